import { randomBytes } from "node:crypto";
import { RLP } from "@ethereumjs/rlp";
import { encodeSigned, MESSAGE_CODES, signPayload } from "../../../src/ibft/codec/encoding.ts";
import { CODES } from "../../../src/network/eth/messages.ts";
import { type Hash, keccak256 } from "../../../src/primitives/hash.ts";
import { concatBytes } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import { encodeRlpList, encodeRlpString } from "../../../src/primitives/rlp.ts";
import { addressOfPrivateKey, encodeSignature, sign } from "../../../src/primitives/secp256k1.ts";
import type { Digest } from "../../../src/types/blockHash.ts";
import { hashOf, hugeProposalBy, newIdentity } from "../../../test/cluster/harness/hostileMessages.ts";
import { callAsHostile, ETH, type HostilePeer, IBF } from "../../../test/cluster/harness/hostilePeer.ts";
import type { Identity } from "../../../test/network/identities.ts";
import { pause } from "../pause.ts";
import type { Target } from "./target.ts";

const SIGNATURES = 4096;
/** Number of different messages, so that a cache of signatures helps little. */
const CERTIFICATES = 12;
const CERTIFICATES_PER_SECOND = 200;
const MADE_UP_TRANSACTIONS = 10_900;
const UNTRUSTED_PEERS = 3;
const PROPOSAL_BYTES = 9 * 1024 ** 2;

/** RoundChanges of one validator with 4,096 signatures each, 200 a second. */
export async function sendCertificates(target: Target, isOver: () => boolean): Promise<void> {
  const certificates = Array.from({ length: CERTIFICATES }, () => encodedCertificate(target.byzantine));
  await asPeer(target, target.byzantine, isOver, async (peer) => {
    const height = BigInt(await target.headNumber()) + 1n;
    for (let sent = 0; sent < CERTIFICATES_PER_SECOND / 10 && !peer.isGone(); sent++) {
      const certificate = certificates[sent % certificates.length] ?? new Uint8Array();
      peer.send(IBF + MESSAGE_CODES.roundChange, roundChangeWith(target.byzantine, height, certificate));
    }
    await drained(peer);
    await pause(100);
  });
}

/** Encoded by hand, because the codec takes ten milliseconds for so long a list. */
function roundChangeWith({ privateKey }: Identity, height: bigint, certificate: Uint8Array): Uint8Array {
  const round = 2 + Math.floor(Math.random() * 1e6);
  const place = [bigintToFixedBytes(height, 8), bigintToFixedBytes(BigInt(round), 4)].map(encodeRlpString);
  const payload = encodeRlpList([...place, certificate]);
  const digest = keccak256(concatBytes(Uint8Array.of(MESSAGE_CODES.roundChange), payload));
  const signature = encodeRlpString(encodeSignature(sign(digest, privateKey)));
  return encodeRlpList([encodeRlpList([payload, signature]), Uint8Array.of(0x80)]);
}

/** A different Proposal of 9 MB each second, from one validator to one node. */
export async function sendLargeProposals(target: Target, isOver: () => boolean): Promise<void> {
  await asPeer(target, target.byzantine, isOver, async (peer) => {
    const height = BigInt(await target.headNumber()) + 1n;
    peer.send(...hugeProposalBy(target.byzantine, height, PROPOSAL_BYTES));
    await pause(1000);
  });
}

/** Messages of 10,900 transactions with invalid signatures, as fast as they are read, from untrusted peers that reconnect. */
export async function sendMadeUpTransactions(target: Target, isOver: () => boolean): Promise<void> {
  const messages = Array.from({ length: 6 }, (_, index) => madeUpTransactions(index % 2 === 0));
  async function attack(first: number): Promise<void> {
    for (let turn = first; !isOver(); turn++) {
      await asPeer(target, newIdentity(), isOver, async (peer) => {
        for (let index = turn; !isOver() && !peer.isGone(); index++) {
          peer.send(ETH + CODES.transactions, messages[index % messages.length] ?? new Uint8Array());
          await drained(peer);
        }
      });
    }
  }
  await Promise.all(Array.from({ length: UNTRUSTED_PEERS }, (_, index) => attack(index)));
}

/** Acts as a peer of the target until the end, and reconnects after each disconnect. */
async function asPeer(
  { address }: Target,
  own: Identity,
  isOver: () => boolean,
  act: (peer: HostilePeer) => Promise<void>,
): Promise<void> {
  while (!isOver()) {
    const peer = callAsHostile(address, own);
    await Promise.race([peer.isGreeted, pause(2000)]);
    while (!isOver() && !peer.isGone()) {
      await act(peer);
      await pause(0);
    }
    peer.socket.destroy();
    await pause(200);
  }
}

async function drained({ socket, isGone }: HostilePeer): Promise<void> {
  do await pause(5);
  while (socket.writableLength > 0 && !isGone());
}

/** A prepared certificate of 4,096 Prepares over different digests, so that no two signatures are equal. */
function encodedCertificate({ privateKey }: Identity): Uint8Array {
  const signer = {
    self: addressOfPrivateKey(privateKey),
    sign: (digest: Hash) => sign(digest, privateKey),
  };
  const place = { height: 1n, round: 0 } as const;
  const digest = hashOf("a digest") as Digest;
  const prepares = Array.from({ length: SIGNATURES }, () => {
    const other = hashOf(randomBytes(8).toString("hex")) as Digest;
    return encodeSigned(signPayload(signer, { kind: "prepare", ...place, digest: other }));
  });
  const proposal = encodeSigned(signPayload(signer, { kind: "proposal", ...place, digest }));
  return encodeRlpList([proposal, encodeRlpList(prepares)]);
}

/** Legacy transactions with random signatures, most of which recover to some address, or with impossible ones. */
function madeUpTransactions(recovers: boolean): Uint8Array {
  const one = (): Uint8Array =>
    RLP.encode([
      "0x",
      "0x3b9aca00",
      "0x5208",
      randomBytes(20),
      "0x01",
      "0x",
      Uint8Array.of(Math.random() < 0.5 ? 27 : 28),
      scalar(recovers),
      scalar(recovers),
    ]);
  return encodeRlpList(Array.from({ length: MADE_UP_TRANSACTIONS }, one));
}

/** 32 bytes: below half of the curve's order, or above the valid range. */
function scalar(isPossible: boolean): Uint8Array {
  const bytes = randomBytes(32);
  bytes[0] = isPossible ? 1 + ((bytes[0] ?? 0) % 0x70) : 0xff;
  if (!isPossible) bytes.fill(0xff, 0, 16);
  return bytes;
}
