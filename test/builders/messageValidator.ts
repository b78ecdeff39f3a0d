import { withRound } from "../../src/ibft/candidate.ts";
import { decodeMessage, peekRoundId } from "../../src/ibft/codec/decoding.ts";
import { encodeMessage } from "../../src/ibft/codec/encoding.ts";
import { DECODING_ERRORS } from "../../src/ibft/codec/payloadReader.ts";
import { type Rules, type State, UNSTARTED } from "../../src/ibft/state.ts";
import { step } from "../../src/ibft/stateMachine.ts";
import { tallyOf } from "../../src/ibft/validatorVotes.ts";
import { addressFromHex } from "../../src/primitives/address.ts";
import { equalBytes, hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import { readRlp } from "../../src/primitives/rlp.ts";
import { addressOfPrivateKey, sign } from "../../src/primitives/secp256k1.ts";
import { hashOfHeader } from "../../src/types/blockHash.ts";
import { decodeHeader } from "../../src/types/header.ts";
import { readVectorJson } from "../vectors.ts";
import { nodeOf, type OpensString, withReplaced } from "./rlpMutations.ts";
import { aSchedule } from "./toyChain.ts";

/** Result of the bytes at a validator: "understood", or the error code. Throws when decoding is inexact. */
export type MessageValidator = (code: number, payload: Uint8Array) => string;

/**
 * Validates like the validator with key 3 in the network of ibft2.md#example-network, at height 1: bytes are refused with
 * a known code, or encode to the same bytes again (except seals, which are left out); and a message that the state
 * machine rejects does not change its state.
 */
export function createMessageValidator(): MessageValidator {
  const { rules, state } = aValidatorOfTheSheet();
  return (code, payload) => {
    peekRoundId(code, payload);
    const read = decodeMessage(code, payload);
    if (!read.ok) {
      if (!DECODING_ERRORS.includes(read.error.code))
        throw new Error(`a reason of its own: ${read.error.code}`);
      return read.error.code;
    }
    // A copy, for which no encoding is kept.
    const again = encodeMessage(structuredClone(read.value)).payload;
    if (!equalBytes(again, payload) && !equalBytes(again, withoutSeals(code, payload)))
      throw new Error(`encoded otherwise: ${toHex(again)}`);
    const after = step(rules, state, 0, { kind: "message", message: read.value });
    const [effect] = after.effects;
    if (effect?.kind !== "rejectMessage") return "understood";
    if (after.state !== state)
      throw new Error(`rejected with ${effect.error}, and yet something has changed`);
    return `rejected: ${effect.error}`;
  };
}

/** The extra data of a header and typed transactions contain RLP. */
export const opensMessageStrings: OpensString = (path, payload) => {
  const [block, part, index] = path;
  if (block !== 1 || path.length !== 3) return undefined;
  if (part === 0 && index === 12 && isList(payload)) return 0;
  return part === 1 && isList(payload.subarray(1)) ? 1 : undefined;
};

function isList(bytes: Uint8Array): boolean {
  try {
    return Array.isArray(readRlp(bytes, 8));
  } catch {
    return false;
  }
}

function withoutSeals(code: number, payload: Uint8Array): Uint8Array {
  const node = nodeOf(payload, opensMessageStrings);
  return code === 0 || code === 3 ? withReplaced(node, [1, 0, 12, 4], [Uint8Array.of(0xc0)]) : payload;
}

/** The validator with key 3 in the network of ibft2.md#example-network, at height 1. */
function aValidatorOfTheSheet(): { readonly rules: Rules; readonly state: State } {
  const { genesis, validatorsSorted } = readVectorJson<{
    genesis: { headerRlp: string };
    validatorsSorted: string[];
  }>("ibft2", "messages-derived.json");
  const header = decodeHeader(hexToBytes(genesis.headerRlp));
  const hash = header.ok ? hashOfHeader(header.value) : header;
  if (!header.ok || !hash.ok) throw new Error("the genesis block of the sheet is sound");
  const key = bigintToFixedBytes(3n, 32);
  const rules: Rules = {
    self: addressOfPrivateKey(key),
    schedule: aSchedule(),
    sign: (digest) => sign(digest, key),
    withRound,
  };
  const tally = tallyOf(validatorsSorted.map(addressFromHex));
  const head = { header: header.value, hash: hash.value, totalDifficulty: 1n, tally };
  return { rules, state: step(rules, UNSTARTED, 0, { kind: "started", head }).state };
}
