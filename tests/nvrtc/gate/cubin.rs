//! The machine code of a cubin, which is an ELF image of 64 bits: its sections `.text.*`.

/// The bytes of the sections whose names begin with `.text`, in the order of their headers.
pub fn text_sections(cubin: &[u8]) -> Vec<&[u8]> {
    let number = |at: usize, bytes: usize| -> usize {
        cubin[at..at + bytes].iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
    };
    assert_eq!(&cubin[..5], b"\x7fELF\x02", "a cubin is ELF of 64 bits");
    // ELF64 header: e_shoff, e_shentsize, e_shnum, e_shstrndx. Section header: sh_name, sh_offset, sh_size.
    let (table, entry, count, names) = (number(40, 8), number(58, 2), number(60, 2), number(62, 2));
    let section = |index: usize| {
        let header = table + index * entry;
        let (offset, size) = (number(header + 24, 8), number(header + 32, 8));
        (number(header, 4), offset, size)
    };
    let names = section(names).1;
    let is_text = |name: usize| cubin[names + name..].starts_with(b".text");
    (0..count).map(section).filter(|section| is_text(section.0)).map(|(_, offset, size)| &cubin[offset..offset + size]).collect()
}
