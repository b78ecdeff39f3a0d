import type { NamedHeader } from "../types/block.ts";
import type { Digest } from "../types/blockHash.ts";
import type { Candidate } from "./candidate.ts";
import type { LastSignedState } from "./lastSigned.ts";
import type { Authored } from "./message.ts";
import type { RoundId } from "./roundId.ts";
import type { VoteTally } from "./validatorVotes.ts";

/** The block that the next one builds on, with the validators and outstanding votes after it. */
export interface Head extends NamedHeader {
  readonly tally: VoteTally;
}

/** All inputs of the state machine. A result or timer names its round; it is ignored when we have left that round. */
export type Input =
  /** The node starts, with what we signed before the restart. */
  | { readonly kind: "started"; readonly head: Head; readonly record?: LastSignedState }
  /** Decoded, signers already recovered. */
  | { readonly kind: "message"; readonly message: Authored }
  | { readonly kind: "blockTimer" | "roundTimer"; readonly id: RoundId }
  | { readonly kind: "candidateBuilt"; readonly id: RoundId; readonly candidate: Candidate }
  | {
      readonly kind: "candidateChecked";
      readonly id: RoundId;
      readonly digest: Digest;
      readonly sound: boolean;
    }
  /** Through our own commit or through sync. */
  | { readonly kind: "headAdvanced"; readonly head: Head }
  /** From the operator: neither propose nor vote until resumed. */
  | { readonly kind: "paused" | "resumed" };
