// Twin of src/schedule/roles.rs: the effect of each step of a role. Only this file and schedule.cuh
// synchronize.
#pragma once
#include "schedule.cuh"

enum class RoleStepKind {
  InitBarriers,
  FenceBarrierInit,
  MeetBlock,
  MeetCluster,
  RegistersDown,
  RegistersUp,
  AwaitEmpty,
  Expect,
  CopyTensor,
  GatherLines,
  ArriveGathered,
  Drain,
  SkipEarlier,
  SkipLater,
  AwaitTurn,
  PassTurn,
  AwaitFull,
  AwaitNext,
  ClearOutside,
  MeetCleared,
  LoadFirst,
  LoadFragments,
  FenceOperands,
  MultiplyStage,
  MultiplyInstructionTile,
  Promote,
  CommitProducts,
  AwaitProducts,
  MeetWarp,
  MultiplyLast,
  Release,
  Advance,
  ExpectSource,
  FetchSource,
  AwaitSource,
  AwaitStores,
  Meet,
  StageVectors,
  StoreStaging,
  FenceProxy,
  StoreTensor,
  CommitStores,
  StoreThreads,
  ReduceSlices,
  AwaitRead,
  SendPartials,
  ExpectPartials,
  AwaitPartials,
  AddPartials,
  ReleasePartials
};

struct RoleStep {
  RoleStepKind kind;
  int first;
  int second;
};

namespace schedule::roles {

// Longest suspension of a wait before it polls again, in nanoseconds; not a limit of the wait.
constexpr unsigned kSuspendNanoseconds = 10'000'000;

// Addresses are in the shared window of this block.
__device__ __forceinline__ void init(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Arrives at the same barrier of the block with this rank. Only products have read what is
// released, and they have been waited for. The arrival therefore has nothing to release to the
// cluster, and `.release.cluster` would cost two MEMBARs per stage, one of them GPU-wide.
__device__ __forceinline__ void arrive_at(unsigned barrier, unsigned rank) {
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.release.cta.shared::cluster.b64 _, [there];\n"
      "}" ::"r"(barrier), "r"(rank) : "memory");
}

// Arrives likewise for data that threads have read and others may overwrite afterwards.
__device__ __forceinline__ void release_at(unsigned barrier, unsigned rank) {
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n"
      "}" ::"r"(barrier), "r"(rank) : "memory");
}

__device__ __forceinline__ void expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// Waits for the phase with this parity. Later accesses are ordered after the arrivals of the block,
// or of its cluster.
template <bool FromCluster>
__device__ __forceinline__ void await(unsigned barrier, unsigned parity) {
  unsigned passed;
  do {
    if constexpr (FromCluster) {
      asm volatile(
          "{\n"
          ".reg .pred passed;\n"
          "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 passed, [%1], %2, %3;\n"
          "selp.u32 %0, 1, 0, passed;\n"
          "}" : "=r"(passed) : "r"(barrier), "r"(parity), "n"(kSuspendNanoseconds) : "memory");
    } else {
      asm volatile(
          "{\n"
          ".reg .pred passed;\n"
          "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 passed, [%1], %2, %3;\n"
          "selp.u32 %0, 1, 0, passed;\n"
          "}" : "=r"(passed) : "r"(barrier), "r"(parity), "n"(kSuspendNanoseconds) : "memory");
    }
  } while (!passed);
}

// Parity of the exchanges under split-K within a cluster: how many times a consumer received
// slices, or was allowed to send its own.
template <bool Counts>
struct Exchanges {
  unsigned exchanged = 0;
};
template <>
struct Exchanges<false> {};

// State that every role has. A role derives from it and provides the following members.
// - step<Kind, First, FragmentSet>(): CopyTensor, GatherLines, ClearOutside, LoadFirst,
//   LoadFragments, MultiplyStage, MultiplyLast, MultiplyInstructionTile, Promote, FetchSource,
//   StageVectors, StoreStaging, StoreTensor, StoreThreads, ReduceSlices, SendPartials,
//   AddPartials. Only arrives_last may wait.
// - goes_on(): whether this thread continues after the opening.
// - next_tile(): advances to the next tile of D; false if there is none. k_tiles(): its k-tiles.
// - has_outside(): whether the k-tile has elements outside the group's K.
// - k_tiles_before(n), k_tiles_behind(n): k-tiles of other consumers' n previous and next units.
// - stores(): whether it stores the tile; false if another consumer has the sum of its slices.
// - rank(), has_next(): under a cluster's split, its block's rank and whether a tile follows.
// - reads_source(): whether C comes through the staging buffers.
// - kFragmentSets: k-tile k uses fragment set k mod kFragmentSets, a compile-time number.
// - pin(): keeps registers that products write in place. once_loaded(): 0 after the loads.
template <class Ring_>
struct State : Exchanges<(Ring_::kSenders > 0)> {
  using Ring = Ring_;
  static constexpr bool kClustered = Ring::kBlocks > 1;
  static constexpr int kFragmentSets = 1;

  // Start of the ring: an address in the shared window, a multiple of 1024.
  unsigned const shared;
  // Index of this thread's consumer; meaningless for a producer.
  unsigned const consumer;
  // Index of this thread in its warpgroup.
  unsigned const thread;
  // Position of the tile being copied or multiplied.
  typename Ring::Position position{};
  // Number of finished k-tiles of the current tile of D.
  unsigned k = 0;
  // Number of turns to multiply that this thread has waited for, under ping-pong.
  unsigned round = 0;
  // Parity of the number of times that C arrived.
  unsigned fetched = 0;

  __device__ State(unsigned shared, unsigned consumer, unsigned thread) : shared(shared), consumer(consumer), thread(thread) {}

  __device__ __forceinline__ unsigned full() const { return shared + Ring::full(position.stage); }
  __device__ __forceinline__ unsigned empty() const { return shared + Ring::empty(position.stage); }
  __device__ __forceinline__ unsigned stage_a() const { return shared + Ring::a(position.stage); }
  __device__ __forceinline__ unsigned stage_b() const { return shared + Ring::b(position.stage); }
  // Staging buffer of a subtile; the buffers are used round-robin.
  __device__ __forceinline__ unsigned staging(unsigned subtile) const {
    return shared + Ring::staging(consumer, subtile % Ring::kStagingBuffers);
  }
  // Vectors of the consumer's epilogue.
  __device__ __forceinline__ unsigned vectors() const { return shared + Ring::vectors(consumer); }
  // Barrier on which the consumer waits for C.
  __device__ __forceinline__ unsigned source() const { return shared + Ring::source(consumer); }
  // Barriers on which a consumer waits for slices, and until its own have been read.
  __device__ __forceinline__ unsigned landed() const { return shared + Ring::landed(consumer); }
  __device__ __forceinline__ unsigned read() const { return shared + Ring::read(consumer); }
  // Returns whether this thread sets up, copies, and stores for its warpgroup.
  __device__ __forceinline__ bool leads() const { return thread == 0; }

  __device__ __forceinline__ bool goes_on() const { return true; }
  __device__ __forceinline__ bool reads_source() const { return false; }
  __device__ __forceinline__ void pin() {}
  // Products have already been waited for when they release a stage.
  __device__ __forceinline__ unsigned once_loaded() const { return 0; }
};

// Performs one synchronizing step.
template <RoleStepKind Kind, int First, class Role>
__device__ __forceinline__ void synchronize(Role& role) {
  using Ring = typename Role::Ring;
  if constexpr (Kind == RoleStepKind::InitBarriers) {
    if (threadIdx.x == 0) {
      for (unsigned stage = 0; stage < Ring::kStages; ++stage) {
        init(role.shared + Ring::full(stage), Ring::kFullArrivals);
        init(role.shared + Ring::empty(stage), Ring::kEmptyArrivals);
      }
      if constexpr (Ring::kTurns > 0) {
        for (unsigned turn = 0; turn < Ring::kTurns; ++turn) init(role.shared + Ring::turn(turn), Ring::kTurnArrivals);
      }
      if constexpr (Ring::kSources > 0) {
        for (unsigned consumer = 0; consumer < Ring::kSources; ++consumer) init(role.shared + Ring::source(consumer), 1);
      }
      if constexpr (Ring::kSenders > 0) {
        for (unsigned consumer = 0; consumer < Ring::kConsumers; ++consumer) {
          init(role.shared + Ring::landed(consumer), 1);
          init(role.shared + Ring::read(consumer), Ring::kReadArrivals);
        }
      }
    }
  } else if constexpr (Kind == RoleStepKind::FenceBarrierInit) {
    if (threadIdx.x == 0) asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  } else if constexpr (Kind == RoleStepKind::MeetBlock) {
    __syncthreads();
  } else if constexpr (Kind == RoleStepKind::MeetCluster) {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  } else if constexpr (Kind == RoleStepKind::RegistersDown) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(First));
  } else if constexpr (Kind == RoleStepKind::RegistersUp) {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(First));
  } else if constexpr (Kind == RoleStepKind::AwaitEmpty) {
    await<Role::kClustered>(role.empty(), role.position.phase ^ 1);
  } else if constexpr (Kind == RoleStepKind::Expect) {
    if (!Ring::kGathers || role.leads()) expect(role.full(), Ring::kExpectBytes);
  } else if constexpr (Kind == RoleStepKind::ArriveGathered) {
    // The pending count includes the arrival from the start (`noinc`).
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(role.full()) : "memory");
  } else if constexpr (Kind == RoleStepKind::Drain) {
    auto position = role.position;
    for (unsigned i = 0; i < Ring::kStages; ++i, position.advance()) {
      await<Role::kClustered>(role.shared + Ring::empty(position.stage), position.phase ^ 1);
    }
  } else if constexpr (Kind == RoleStepKind::SkipEarlier) {
    role.position.skip(role.k_tiles_before(role.consumer));
  } else if constexpr (Kind == RoleStepKind::SkipLater) {
    role.position.skip(role.k_tiles_behind(Ring::kTurns - 1 - role.consumer));
  } else if constexpr (Kind == RoleStepKind::AwaitTurn) {
    // No turn precedes the first consumer's first tile: its barrier has completed no phase yet.
    await<false>(role.shared + Ring::turn(role.consumer), role.round % 2 ^ (role.consumer == 0));
    ++role.round;
  } else if constexpr (Kind == RoleStepKind::PassTurn) {
    unsigned const next = role.consumer + 1 == Ring::kTurns ? 0 : role.consumer + 1;
    if (role.thread % 32 == 0) arrive(role.shared + Ring::turn(next));
  } else if constexpr (Kind == RoleStepKind::AwaitFull) {
    await<false>(role.full(), role.position.phase);
  } else if constexpr (Kind == RoleStepKind::AwaitNext) {
    if (role.k < role.k_tiles()) await<false>(role.full(), role.position.phase);
  } else if constexpr (Kind == RoleStepKind::MeetCleared) {
    // Barriers 1 to kConsumers belong to the warpgroups.
    constexpr bool alone = Ring::kTurns > 0 || Ring::kConsumers == 1;
    if (role.has_outside()) {
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      // The lanes of a warp may have cleared different numbers of chunks.
      __syncwarp();
      asm volatile("bar.sync %0, %1;" ::"r"(1 + (alone ? role.consumer : Ring::kConsumers)), "n"(Ring::kWarpgroup * (alone ? 1 : Ring::kConsumers)) : "memory");
    }
  } else if constexpr (Kind == RoleStepKind::FenceOperands) {
    role.pin();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  } else if constexpr (Kind == RoleStepKind::CommitProducts) {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  } else if constexpr (Kind == RoleStepKind::AwaitProducts) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(First) : "memory");
    role.pin();
  } else if constexpr (Kind == RoleStepKind::MeetWarp) {
    __syncwarp();
  } else if constexpr (Kind == RoleStepKind::Release) {
    // Nothing of an earlier tile of D remains to be released.
    bool const of_this_tile = First == 0 || role.k >= First;
    unsigned const lane = role.thread % 32;
    unsigned const barrier = role.shared + Ring::empty(role.position.stage_before(First)) + role.once_loaded();
    if constexpr (Role::kClustered) {
      if (of_this_tile && lane < Ring::kBlocks) arrive_at(barrier, lane);
    } else {
      if (of_this_tile && lane == 0) arrive(barrier);
    }
  } else if constexpr (Kind == RoleStepKind::Advance) {
    role.position.advance();
    ++role.k;
  } else if constexpr (Kind == RoleStepKind::ExpectSource) {
    if (role.leads() && role.reads_source()) {
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
      expect(role.source(), Ring::kSourceBytes);
    }
  } else if constexpr (Kind == RoleStepKind::AwaitSource) {
    if (role.reads_source()) {
      await<false>(role.source(), role.fetched);
      role.fetched ^= 1;
    }
  } else if constexpr (Kind == RoleStepKind::AwaitRead) {
    if (role.rank() > 0) {
      await<true>(role.read(), role.exchanged ^ 1);
      role.exchanged ^= 1;
    }
  } else if constexpr (Kind == RoleStepKind::ExpectPartials) {
    if (role.rank() == 0 && role.leads()) expect(role.landed(), Ring::kLandingBytes);
  } else if constexpr (Kind == RoleStepKind::AwaitPartials) {
    if (role.rank() == 0) {
      await<true>(role.landed(), role.exchanged);
      role.exchanged ^= 1;
    }
  } else if constexpr (Kind == RoleStepKind::ReleasePartials) {
    if (role.rank() == 0 && role.has_next()) {
      __syncwarp();
      unsigned const lane = role.thread % 32;
      if (lane < Ring::kSenders) release_at(role.read(), 1 + lane);
    }
  } else if constexpr (Kind == RoleStepKind::AwaitStores) {
    if (role.leads()) asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(First) : "memory");
  } else if constexpr (Kind == RoleStepKind::Meet) {
    // Barrier 0 belongs to the block.
    asm volatile("bar.sync %0, %1;" ::"r"(1 + role.consumer), "n"(Ring::kWarpgroup) : "memory");
  } else if constexpr (Kind == RoleStepKind::FenceProxy) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  } else {
    static_assert(Kind == RoleStepKind::CommitStores, "a step that does not synchronize");
    if (role.leads()) asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
}

// Counts a consumer at a ticket after the writes of its threads are visible to all; returns whether
// it is the last of `arrivals`. If so, it can read the writes of the others.
template <class Ring>
__device__ __forceinline__ bool arrives_last(unsigned consumer, unsigned thread, unsigned* ticket, unsigned arrivals) {
  // Barrier 0 belongs to the block.
  asm volatile("bar.sync %0, %1;" ::"r"(1 + consumer), "n"(Ring::kWarpgroup) : "memory");
  unsigned last = thread == 0 && draw(ticket) == arrivals - 1;
  asm volatile(
      "{\n"
      ".reg .pred mine, any;\n"
      "setp.ne.u32 mine, %0, 0;\n"
      "bar.red.or.pred any, %1, %2, mine;\n"
      "selp.u32 %0, 1, 0, any;\n"
      "}" : "+r"(last) : "r"(1 + consumer), "n"(Ring::kWarpgroup) : "memory");
  return last;
}

// Performs Count steps of List from First on, with compile-time numbers. It recurses by halves: the
// compiler optimizes the inlined code again on each level, which takes one second for a linear list
// of a hundred steps.
template <class List, int FragmentSet = 0, int First = 0, int Count = List::kCount, class Role>
__device__ __forceinline__ void perform(Role& role) {
  if constexpr (Count > 1) {
    perform<List, FragmentSet, First, Count / 2>(role);
    perform<List, FragmentSet, First + Count / 2, Count - Count / 2>(role);
  } else if constexpr (Count == 1) {
    constexpr RoleStep step = List::step(First);
    if constexpr (step.kind == RoleStepKind::CopyTensor || step.kind == RoleStepKind::GatherLines || step.kind == RoleStepKind::ClearOutside || step.kind == RoleStepKind::MultiplyStage ||
                  step.kind == RoleStepKind::MultiplyInstructionTile || step.kind == RoleStepKind::Promote ||
                  step.kind == RoleStepKind::FetchSource || step.kind == RoleStepKind::StageVectors || step.kind == RoleStepKind::StoreStaging || step.kind == RoleStepKind::StoreTensor ||
                  step.kind == RoleStepKind::StoreThreads || step.kind == RoleStepKind::LoadFirst || step.kind == RoleStepKind::LoadFragments ||
                  step.kind == RoleStepKind::MultiplyLast || step.kind == RoleStepKind::ReduceSlices || step.kind == RoleStepKind::SendPartials ||
                  step.kind == RoleStepKind::AddPartials) {
      role.template step<step.kind, step.first, FragmentSet>();
    } else {
      synchronize<step.kind, step.first>(role);
    }
  }
}

// Performs a role's whole schedule.
template <class Schedule, class Role>
__device__ __forceinline__ void run(Role& role) {
  perform<typename Schedule::Opening>(role);
  if (!role.goes_on()) return;
  while (role.next_tile()) {
    role.k = 0;
    perform<typename Schedule::Prologue>(role);
    unsigned const trips = role.k_tiles();
#pragma unroll 1
    for (unsigned trip = 0; trip < trips; ++trip) {
      perform<typename Schedule::Body>(role);
      if constexpr (Role::kFragmentSets > 1) {
        static_assert(Role::kFragmentSets == 2, "a role has one fragment set or two");
        if (++trip == trips) break;
        perform<typename Schedule::Body, 1>(role);
      }
    }
    perform<typename Schedule::Tail>(role);
    if (role.stores()) perform<typename Schedule::Epilogue>(role);
  }
  perform<typename Schedule::Closing>(role);
}

}  // namespace schedule::roles
