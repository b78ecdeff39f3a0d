import type { Signature } from "../primitives/secp256k1.ts";
import type { Candidate } from "./candidate.ts";
import type { LastSignedState } from "./lastSigned.ts";
import type { Authored } from "./message.ts";
import type { MessageErrorCode } from "./messageRules.ts";
import type { RoundId } from "./roundId.ts";

/** All that the machine asks of the world, to be performed in order. Timers are never cancelled, only outlived. */
export type Effect =
  /** Durable before any later effect is performed. */
  | { readonly kind: "recordVote"; readonly record: LastSignedState }
  /** To every other validator; we have heard it already. */
  | { readonly kind: "multicast"; readonly message: Authored }
  | { readonly kind: "setBlockTimer" | "setRoundTimer"; readonly id: RoundId; readonly atMs: number }
  /** Comes back as candidateBuilt; not at all when it fails. */
  | { readonly kind: "buildCandidate"; readonly id: RoundId; readonly timestamp: bigint }
  /** Comes back as candidateChecked. */
  | { readonly kind: "checkCandidate"; readonly id: RoundId; readonly candidate: Candidate }
  /** Comes back as headAdvanced; asked again when that takes long. */
  | { readonly kind: "commitBlock"; readonly candidate: Candidate; readonly seals: readonly Signature[] }
  | { readonly kind: "rejectMessage"; readonly message: Authored; readonly error: MessageErrorCode }
  | { readonly kind: "reportDoubleVote"; readonly first: Authored; readonly second: Authored };
