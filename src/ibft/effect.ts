import type { Signature } from "../primitives/secp256k1.ts";
import type { Candidate } from "./candidate.ts";
import type { LastSignedState } from "./lastSigned.ts";
import type { Authored } from "./message.ts";
import type { MessageErrorCode } from "./messageRules.ts";
import type { RoundId } from "./roundId.ts";

/** All effects of the state machine, to be performed in order. Timers are never cancelled; late ones are ignored. */
export type Effect =
  /** Durable before any later effect is performed. */
  | { readonly kind: "recordVote"; readonly record: LastSignedState }
  /** To every other validator; our own message set has it already. */
  | { readonly kind: "multicast"; readonly message: Authored }
  | { readonly kind: "setBlockTimer" | "setRoundTimer"; readonly id: RoundId; readonly atMs: number }
  /** Returns as candidateBuilt; does not return when building fails. */
  | { readonly kind: "buildCandidate"; readonly id: RoundId; readonly timestamp: bigint }
  /** Returns as candidateChecked. */
  | { readonly kind: "checkCandidate"; readonly id: RoundId; readonly candidate: Candidate }
  /** Returns as headAdvanced; emitted again at each round timeout until then. */
  | { readonly kind: "commitBlock"; readonly candidate: Candidate; readonly seals: readonly Signature[] }
  | { readonly kind: "rejectMessage"; readonly message: Authored; readonly error: MessageErrorCode }
  | { readonly kind: "reportDoubleVote"; readonly first: Authored; readonly second: Authored };
