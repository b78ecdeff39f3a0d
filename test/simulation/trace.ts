import type { Candidate } from "../../src/ibft/candidate.ts";
import type { RoundId, SignedMessage } from "../../src/ibft/message.ts";
import type { Effect, Input } from "../../src/ibft/state.ts";
import { toHex } from "../../src/primitives/hex.ts";

/** Nodes are a, b, c… in the order of their addresses; blocks are shown by the first digits of their hash, votes by those of their digest. */
function letterOf(address: Uint8Array): string {
  const index = Number(address.at(-1)) - 1;
  return "abcdefghijklmnop"[index] ?? "?";
}

export const letterOfNode = (index: number): string => letterOf(Uint8Array.of(index + 1));

export function describeInput(input: Input): string {
  switch (input.kind) {
    case "started":
      return `starts on block ${input.head.header.number}${input.record === undefined ? "" : `, bound by ${place(input.record)}`}`;
    case "message":
      return `hears ${describeMessage(input.message)}`;
    case "blockTimer":
    case "roundTimer":
      return `${input.kind === "blockTimer" ? "block" : "round"} timer ${place(input.id)}`;
    case "candidateBuilt":
      return `built ${nameOf(input.candidate)} for ${place(input.id)}`;
    case "candidateChecked":
      return `finds ${short(input.digest)} ${input.sound ? "valid" : "invalid"}`;
    case "signed":
      return `gets the signature of ${short(input.digest)} for ${place(input.id)}`;
    case "headAdvanced":
      return `head is ${input.head.header.number} ${short(input.head.hash)}`;
    case "paused":
    case "resumed":
    case "ownKeyClaimed":
      return input.kind;
  }
}

export function describeEffect(effect: Effect): string {
  switch (effect.kind) {
    case "recordVote": {
      const { digest, prepared } = effect.record;
      const about = digest === undefined ? "nothing" : short(digest);
      return `record ${place(effect.record)} ${about}${prepared === undefined ? "" : `, prepared ${nameOf(prepared.candidate)}`}`;
    }
    case "multicast":
      return `say ${describeMessage(effect.message)}`;
    case "requestSignature":
      return `request the signature of ${short(effect.digest)} for ${place(effect.id)}`;
    case "setBlockTimer":
    case "setRoundTimer":
      return `${effect.kind === "setBlockTimer" ? "block" : "round"} timer ${place(effect.id)} at ${(effect.atMs / 1000).toFixed(3)}`;
    case "buildCandidate":
      return `build ${place(effect.id)} stamped ${effect.timestamp}`;
    case "checkCandidate":
      return `check ${nameOf(effect.candidate)}`;
    case "commitBlock":
      return `commit ${effect.candidate.header.number} ${nameOf(effect.candidate)}, ${effect.seals.length} seals`;
    case "rejectMessage":
      return `reject ${describeMessage(effect.message)}: ${effect.error}`;
    case "reportEquivocation":
      return `report ${describeMessage(effect.first)} and ${describeMessage(effect.second)}`;
  }
}

function describeMessage(message: SignedMessage): string {
  const { kind, signed } = message;
  const text = `${kind} ${place(signed.payload)} by ${letterOf(signed.author)}`;
  switch (message.kind) {
    case "proposal": {
      const requesters = message.certificate?.map(({ author }) => letterOf(author)).join("");
      return `${text}: ${nameOf(message.candidate)}${requesters === undefined ? "" : ` as asked by ${requesters}`}`;
    }
    case "roundChange": {
      const prepared = message.signed.payload.prepared?.proposal.payload;
      return prepared === undefined ? text : `${text}, prepared ${short(prepared.digest)}@${prepared.round}`;
    }
    default:
      return `${text}: ${short(message.signed.payload.digest)}`;
  }
}

const place = ({ height, round }: RoundId): string => `${height}/${round}`;

/** Block, round, and the digest that votes in that round sign. */
const nameOf = ({ hash, digest, extra }: Candidate): string =>
  `${short(hash)}@${extra.round} (${short(digest)})`;

const short = (bytes: Uint8Array): string => toHex(bytes.subarray(0, 2)).slice(2);
