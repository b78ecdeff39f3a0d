import { RLP } from "@ethereumjs/rlp";
import type { Hash } from "../../src/primitives/hash.ts";
import { hashOfHeader } from "../../src/types/blockHash.ts";
import { decodeExtraData, type ExtraData } from "../../src/types/extraData.ts";
import { type Header, headerFromItems } from "../../src/types/header.ts";
import { readVectorBytes } from "../vectors.ts";
import { rlpItems } from "./rlpItems.ts";

/** A header of a recorded chain; senders and bodies are left unread, so a thousand of them take a moment. */
export interface RecordedHeader {
  readonly header: Header;
  readonly extra: ExtraData;
  readonly hash: Hash;
}

/** The headers of a file of concatenated blocks, genesis first. */
export function readRecordedHeaders(...segments: readonly string[]): RecordedHeader[] {
  const headers: RecordedHeader[] = [];
  for (const bytes of rlpItems(readVectorBytes(...segments))) {
    const block = RLP.decode(bytes);
    if (!Array.isArray(block)) throw new Error("a block is a list");
    headers.push(readHeader(block[0]));
  }
  return headers;
}

function readHeader(items: unknown): RecordedHeader {
  const header = headerFromItems(items);
  if (!header.ok) throw new Error(header.error.message);
  const extra = decodeExtraData(header.value.extraData);
  if (!extra.ok) throw new Error(extra.error.message);
  const hash = hashOfHeader(header.value);
  if (!hash.ok) throw new Error(hash.error.message);
  return { header: header.value, extra: extra.value, hash: hash.value };
}
