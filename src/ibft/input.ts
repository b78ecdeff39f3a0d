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

/** All that can happen to the machine. An answer or a timer names its round; one of a round we have left is ignored. */
export type Input =
  /** Boot, with what we promised before the crash. */
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
  /** By our own commit or by sync. */
  | { readonly kind: "headAdvanced"; readonly head: Head }
  /** From the operator: neither propose nor vote until resumed. */
  | { readonly kind: "paused" | "resumed" };
