import { randomBytes } from "node:crypto";
import { createCandidate } from "../../../src/ibft/candidate.ts";
import { encodeMessage as encodeIbft, encodeSigned, signPayload } from "../../../src/ibft/codec/encoding.ts";
import type { NodeAddress } from "../../../src/network/dialer.ts";
import type { EthMessage } from "../../../src/network/eth/messages.ts";
import { type Hash, keccak256 } from "../../../src/primitives/hash.ts";
import { hexToBytes } from "../../../src/primitives/hex.ts";
import { encodeRlpList, encodeRlpString } from "../../../src/primitives/rlp.ts";
import { addressOfPrivateKey, sign } from "../../../src/primitives/secp256k1.ts";
import { type Digest, hashOfHeader } from "../../../src/types/blockHash.ts";
import { decodeExtraData } from "../../../src/types/extraData.ts";
import type { Header } from "../../../src/types/header.ts";
import { rootOfList } from "../../../src/types/listRoot.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { type Identity, identity } from "../../network/identities.ts";
import { IBF } from "./hostilePeer.ts";
import { CHAIN_ID } from "./validatorNetwork.ts";

/** The attacked node, and what the attackers know about it. */
export interface AttackContext {
  readonly target: NodeAddress;
  readonly targetKey: Identity;
  /** Key of another validator, which is faulty. */
  readonly validatorKey: Identity;
  headNumber(): Promise<number>;
  /** Hash of a block with a body of some size. */
  readonly largeBlock: Hash;
}

let lastSeed = process.pid * 1000;

/** An identity that was not used before. */
export const newIdentity = (): Identity => identity(++lastSeed);

export function hashOf(text: string): Hash {
  return keccak256(Buffer.from(text));
}

export function manyHashes(count: number): Hash[] {
  const seed = newIdentity().nodeId;
  return Array.from({ length: count }, (_, index) => hashOf(`${seed[0]}${lastSeed} ${index}`));
}

export function announcing(count: number): EthMessage {
  const announcements = manyHashes(count).map((hash) => ({ type: 0, size: 100, hash }));
  return { kind: "newPooledTransactionHashes", announcements };
}

export function headersFrom(number: bigint, max: number): EthMessage {
  const query = { start: { number }, max, skip: 0, isReverse: false };
  return { kind: "getBlockHeaders", requestId: 1n, query };
}

/** A well-formed Prepare of this author for an unknown digest: message id and payload on the connection. */
export function prepareBy({ privateKey }: Identity, height: bigint, round: number): [number, Uint8Array] {
  const signed = signPayload(signerOf(privateKey), {
    kind: "prepare",
    height,
    round,
    digest: hashOf("a digest") as Digest,
  });
  const { code, payload } = encodeIbft({ kind: "prepare", signed });
  return [IBF + code, payload];
}

/** A RoundChange whose prepared certificate holds so many different Prepares of one validator. */
export function certificateBy(
  { privateKey }: Identity,
  height: bigint,
  round: number,
  signatures: number,
): [number, Uint8Array] {
  const signer = signerOf(privateKey);
  const proposed = { height, round: 0, digest: hashOf("a digest") as Digest };
  const proposal = signPayload(signer, { kind: "proposal", ...proposed });
  const { signature, ...prepare } = signPayload(signer, { kind: "prepare", ...proposed });
  const prepares = Array.from({ length: signatures }, (_, index) => ({
    ...prepare,
    signature: { ...signature, s: signature.s - BigInt(index) },
  }));
  const signed = signPayload(signer, {
    kind: "roundChange",
    height,
    round,
    prepared: { proposal, prepares },
  });
  const { code, payload } = encodeIbft({ kind: "roundChange", signed });
  return [IBF + code, payload];
}

/** A Proposal whose block is so many bytes of noise. */
export function hugeProposalBy(
  { privateKey }: Identity,
  height: bigint,
  bytes: number,
): [number, Uint8Array] {
  const payload = { kind: "proposal", height, round: 0, digest: hashOf("a digest") as Digest } as const;
  const noise = new Uint8Array(bytes);
  for (let index = 0; index < bytes; index++) noise[index] = (index * 7919) >> 3;
  noise.set(newIdentity().nodeId);
  const signed = encodeSigned(signPayload(signerOf(privateKey), payload));
  return [IBF, encodeRlpList([signed, encodeRlpString(noise), Uint8Array.of(0x80)])];
}

/** A valid Proposal for round 0 on this parent, of a block whose execution never ends. */
export function endlessProposalBy({ privateKey }: Identity, parent: Header): [number, Uint8Array] {
  const extra = decodeExtraData(parent.extraData);
  const parentHash = hashOfHeader(parent);
  if (!extra.ok || !parentHash.ok) throw new Error("the parent is unreadable");
  const signer = signerOf(privateKey);
  const endless = aTransaction({
    chainId: CHAIN_ID,
    to: undefined,
    data: hexToBytes("0x5b600056"),
    gasLimit: 10n ** 15n,
    gasPrice: 0n,
    value: 0n,
    privateKey: newIdentity().privateKey,
  });
  const header = {
    ...parent,
    parentHash: parentHash.value,
    number: parent.number + 1n,
    timestamp: parent.timestamp + 1n,
    coinbase: signer.self,
    transactionsRoot: rootOfList([endless.raw]),
  };
  const candidate = createCandidate(header, { ...extra.value, round: 0 }, [endless]);
  const { digest } = candidate;
  const signed = signPayload(signer, { kind: "proposal", height: header.number, round: 0, digest });
  const { code, payload } = encodeIbft({ kind: "proposal", signed, candidate });
  return [IBF + code, payload];
}

/** Transactions with random signatures, half of which recover a key, or with invalid ones: no point has x = 5. */
export function madeUpTransactions(count: number, { recovers }: { readonly recovers: boolean }): Uint8Array {
  const scalar = (): Uint8Array => {
    const bytes = randomBytes(32);
    // Below half of the order of the curve.
    bytes[0] = 1 + ((bytes[0] ?? 0) % 0x70);
    return bytes;
  };
  const one = (): Uint8Array =>
    encodeRlpList(
      [
        Uint8Array.of(),
        Uint8Array.of(0x3b, 0x9a, 0xca, 0),
        Uint8Array.of(0x52, 0x08),
        randomBytes(20),
        Uint8Array.of(1),
        Uint8Array.of(),
        Uint8Array.of(27),
        recovers ? scalar() : Uint8Array.of(5),
        scalar(),
      ].map(encodeRlpString),
    );
  return encodeRlpList(Array.from({ length: count }, one));
}

function signerOf(privateKey: Uint8Array) {
  return { self: addressOfPrivateKey(privateKey), sign: (digest: Hash) => sign(digest, privateKey) };
}

export function repeat(count: number, act: (index: number) => void): void {
  for (let index = 0; index < count; index++) act(index);
}
