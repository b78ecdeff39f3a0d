import { decodeMessage } from "../../src/ibft/codec/decoding.ts";
import type { SignedMessage } from "../../src/ibft/message.ts";
import { readVectorJson } from "../vectors.ts";

/** Networks whose consensus traffic was recorded. */
export const NETWORKS = ["net1", "net2"] as const;

export type Network = (typeof NETWORKS)[number];

/** One record of `ibft-messages.json`, as the vectors' README describes it. */
export interface RecordedMessage {
  /** height/round/kind/node */
  readonly id: string;
  readonly kind: string;
  readonly code: number;
  readonly height: number;
  readonly round: number;
  readonly author: string;
  readonly signHash: string;
  readonly signature: string;
  readonly digest?: string;
  readonly commitSeal?: string;
  readonly prepared?: RecordedCertificate["prepared"];
  readonly block?: unknown;
  readonly roundChangeCertificate?: readonly RecordedCertificate[] | null;
  readonly data: string;
}

export interface RecordedCertificate {
  readonly author: string;
  readonly prepared: {
    readonly round: number;
    readonly proposer: string;
    readonly digest: string;
    readonly prepares: readonly string[];
  } | null;
}

export function recordedMessages(network: Network): readonly RecordedMessage[] {
  return readVectorJson<RecordedMessage[]>("besu-ibft", network, "wire", "ibft-messages.json");
}

export interface DerivedMessage {
  readonly name: string;
  readonly code: number;
  readonly author: string;
  readonly signHash: string;
  readonly message: string;
}

/** All messages computed independently for the sheet's worked round. */
export function derivedMessages(): readonly DerivedMessage[] {
  return readVectorJson<{ messages: DerivedMessage[] }>("ibft2", "messages-derived.json").messages;
}

export function derivedMessage(name: string): DerivedMessage {
  const found = derivedMessages().find((message) => message.name === name);
  if (found === undefined) throw new Error(`no derived message is called ${name}`);
  return found;
}

/** A message that must decode. */
export function decoded(code: number, payload: Uint8Array): SignedMessage {
  const read = decodeMessage(code, payload);
  if (!read.ok) throw new Error(read.error.message);
  return read.value;
}
