import { statSync } from "node:fs";
import { decodeLastSigned, type LastSignedState } from "../../ibft/lastSigned.ts";
import { HAND_OVER_ID } from "../../node/dataFolder/handOverMark.ts";
import { type NodeKey, nodeKey } from "../../node/keys/nodeKey.ts";
import { NoSmallFile, readRegularFile } from "../../primitives/boundedFile.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import { keccak256 } from "../../primitives/hash.ts";
import { equalBytes, parseHex, toHex } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { curve } from "../../primitives/secp256k1.ts";
import { MAX_HAND_OVER_BYTES } from "./limits.ts";

/** Everything that makes up a validator, apart from its chain. */
export interface HandOver {
  /** Identifies this hand-over, in the marks of the old folder and of the new one. */
  readonly id: string;
  readonly key: NodeKey;
  readonly chainId: bigint;
  readonly genesisHash: Uint8Array;
  /** The newest block of the old folder. */
  readonly height: bigint;
  /** The newest record of its vote log, byte for byte; undefined when it had none. */
  readonly votes: Uint8Array | undefined;
  /** Path of the old folder, so that a new node on the same machine can check its mark. */
  readonly folder: string;
  readonly machine: string;
  /** Addresses at which peers reached the old node, as `host:port`. */
  readonly places: readonly string[];
}

/**
 * The text of the file: a line that says everything, and a line with its hash. The second one is written when the mark of the
 * old folder is durable, so a file that has it proves the mark.
 */
export interface HandOverText {
  readonly content: string;
  readonly end: string;
}

export function encodeHandOver(handOver: HandOver): HandOverText {
  const { id, key, chainId, genesisHash, height, votes, folder, machine, places } = handOver;
  const content = `${JSON.stringify({
    format: FORMAT,
    id,
    address: toHex(key.address),
    privateKey: toHex(key.privateKey),
    chainId: `${chainId}`,
    genesisHash: toHex(genesisHash),
    height: `${height}`,
    votes: votes === undefined ? null : toHex(votes),
    folder,
    machine,
    places,
  })}\n`;
  return { content, end: `${JSON.stringify({ marked: id, hash: hashOf(content) })}\n` };
}

/** A file that was read. */
export interface ReadHandOver {
  readonly handOver: HandOver;
  /** The record of votes, decoded. */
  readonly record: LastSignedState | undefined;
  /** True when users other than the file's owner may read it. */
  readonly isExposed: boolean;
}

export function readHandOver(path: string): Result<ReadHandOver, "badHandOver"> {
  let text: string;
  let isExposed: boolean;
  try {
    text = readRegularFile(path, MAX_HAND_OVER_BYTES);
    isExposed = (statSync(path).mode & OTHERS_MAY_READ) !== 0;
  } catch (error) {
    return unusable(
      error instanceof NoSmallFile
        ? `${path} is not a file of ibex validator hand-over: ${error.message}.`
        : `The file ${path} cannot be read: ${messageOf(error)}.`,
    );
  }
  const lineEnd = text.indexOf("\n") + 1;
  const content = text.slice(0, lineEnd);
  const end = text.slice(lineEnd);
  if (!content.startsWith(BEGINNING))
    return unusable(`${path} is not a file of ibex validator hand-over, or is from another version of Ibex.`);
  if (end === "")
    return unusable(
      `The hand-over that wrote ${path} was not finished, so the old folder may not be marked: its node could start again. ` +
        "Run ibex validator hand-over there once more.",
    );
  try {
    const { hash, marked } = JSON.parse(end) as { readonly hash?: unknown; readonly marked?: unknown };
    if (hash !== hashOf(content)) throw new RangeError("its content does not match its hash");
    const handOver = parseContent(content);
    if (marked !== handOver.id) throw new RangeError("its two lines belong to different hand-overs");
    return ok({ handOver, record: recordOf(handOver), isExposed });
  } catch (error) {
    return unusable(
      `The file ${path} is damaged: ${messageOf(error)}. Copy it again from the old machine, or run ibex validator ` +
        "hand-over there once more.",
    );
  }
}

const FORMAT = "ibex hand-over 1";
const BEGINNING = `{"format":${JSON.stringify(FORMAT)},`;
const OTHERS_MAY_READ = 0o044;

const hashOf = (content: string): string => toHex(keccak256(new TextEncoder().encode(content)));

function parseContent(content: string): HandOver {
  const given = JSON.parse(content) as Readonly<Record<string, unknown>>;
  const privateKey = bytesOf(given, "privateKey");
  if (!curve.isPrivateKey(privateKey)) throw new RangeError("its key is not valid");
  const key = nodeKey(privateKey);
  if (!equalBytes(key.address, bytesOf(given, "address")))
    throw new RangeError("its key is not that of its address");
  const id = textOf(given, "id");
  if (!HAND_OVER_ID.test(id)) throw new RangeError("its id is not valid");
  const { places } = given;
  if (!Array.isArray(places) || !places.every((place) => typeof place === "string"))
    throw new RangeError("its places are missing");
  return {
    id,
    key,
    chainId: BigInt(textOf(given, "chainId")),
    genesisHash: bytesOf(given, "genesisHash"),
    height: BigInt(textOf(given, "height")),
    votes: given["votes"] === null ? undefined : bytesOf(given, "votes"),
    folder: textOf(given, "folder"),
    machine: textOf(given, "machine"),
    places,
  };
}

/** Decodes the record of votes; throws when this version does not understand it. */
function recordOf({ votes }: HandOver): LastSignedState | undefined {
  if (votes === undefined) return undefined;
  const record = decodeLastSigned(votes);
  if (record.ok) return record.value;
  throw new RangeError(`its record of votes is unusable (${record.error.message})`);
}

function textOf(given: Readonly<Record<string, unknown>>, name: string): string {
  const value = given[name];
  if (typeof value !== "string") throw new RangeError(`${name} is missing`);
  return value;
}

function bytesOf(given: Readonly<Record<string, unknown>>, name: string): Uint8Array {
  const bytes = parseHex(textOf(given, name));
  if (bytes === undefined) throw new RangeError(`${name} is not hexadecimal`);
  return bytes;
}

function unusable(message: string): Result<never, "badHandOver"> {
  return fail("caller", "badHandOver", message);
}
