import type { IbftEra, IbftSchedule } from "../../src/chainspec/ibftParameters.ts";
import { type Candidate, createCandidate, withRound } from "../../src/ibft/candidate.ts";
import type { OwnKeyRules } from "../../src/ibft/state.ts";
import type { Head } from "../../src/ibft/validatorSet.ts";
import { tallyAfter, tallyOf } from "../../src/ibft/validatorVotes.ts";
import { type Address, asAddress, ZERO_ADDRESS } from "../../src/primitives/address.ts";
import { EMPTY_LIST_HASH, EMPTY_TRIE_ROOT, keccak256, ZERO_HASH } from "../../src/primitives/hash.ts";
import { equalBytes } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes, bytesToBigint } from "../../src/primitives/quantity.ts";
import { SECP256K1_ORDER, type Signature } from "../../src/primitives/secp256k1.ts";
import type { ValidatorVote } from "../../src/types/extraData.ts";
import type { Header } from "../../src/types/header.ts";

/** Blocks without transactions or state, for tests of consensus: real headers, hashes and extra data, nothing more. */

/** Addresses 0x…01, 0x…02 and so on, which are in order. */
export function toyAddress(index: number): Address {
  return asAddress(bigintToFixedBytes(BigInt(index + 1), 20));
}

export function toyAddresses(count: number): Address[] {
  return Array.from({ length: count }, (_, index) => toyAddress(index));
}

export interface ScheduleChange {
  readonly epochLength?: bigint;
  readonly blockPeriodSeconds?: number;
  readonly requestTimeoutSeconds?: number;
  readonly futureMessagesLimit?: number;
  readonly eras?: readonly IbftEra[];
}

/** Blocks every second, rounds of 2 s, unless changed. */
export function aSchedule({ blockPeriodSeconds = 1, ...change }: ScheduleChange = {}): IbftSchedule {
  return {
    epochLength: 30_000n,
    requestTimeoutSeconds: 2,
    gossipedHistoryLimit: 1000,
    messageQueueLimit: 1000,
    duplicateMessageLimit: 100,
    futureMessagesLimit: 1000,
    futureMessagesMaxDistance: 10,
    eras: [{ fromBlock: 0n, parameters: { blockPeriodSeconds, blockRewardWei: 0n } }],
    ...change,
  };
}

export function aGenesisHead(validators: readonly Address[], timestamp = 0n): Head {
  const header: Header = { ...BLANK, timestamp };
  return {
    header,
    hash: keccak256(bigintToFixedBytes(timestamp, 8)),
    totalDifficulty: 1n,
    tally: tallyOf(validators),
  };
}

export interface ToyOrder {
  readonly round?: number;
  readonly timestamp?: bigint;
  readonly coinbase?: Address;
  readonly vote?: ValidatorVote;
  /** Distinguishes blocks that are otherwise equal. */
  readonly mark?: string;
}

/** A candidate on `parent`, by default a second after it and by its first validator. */
export function aCandidate(
  parent: Head,
  { round = 0, timestamp, coinbase, vote, mark = "" }: ToyOrder = {},
): Candidate {
  const { validators } = parent.tally;
  const header: Header = {
    ...BLANK,
    parentHash: parent.hash,
    number: parent.header.number + 1n,
    timestamp: timestamp ?? parent.header.timestamp + 1n,
    coinbase: coinbase ?? validators[0] ?? ZERO_ADDRESS,
    stateRoot: mark === "" ? EMPTY_TRIE_ROOT : keccak256(new TextEncoder().encode(mark)),
  };
  const extra = {
    vanity: new Uint8Array(32),
    validators,
    round,
    seals: [],
    ...(vote !== undefined && { vote }),
  };
  return createCandidate(header, extra, []);
}

/** The head that a committed candidate becomes. */
export function headOf(parent: Head, { header, extra, hash }: Candidate, schedule = aSchedule()): Head {
  const tally = tallyAfter(parent.tally, { header, extra }, schedule);
  return { header, hash, totalDifficulty: parent.totalDifficulty + 1n, tally };
}

/**
 * A signature that only `signer` makes in these tests, a thousand times cheaper than a real one: it contains the signer
 * and the signed digest. Only the holder of a validator's rules signs for it.
 */
export function tokenSignature(signer: Address, digest: Uint8Array): Signature {
  return { r: (bytesToBigint(digest) % (SECP256K1_ORDER - 1n)) + 1n, s: bytesToBigint(signer), yParity: 0 };
}

export function isTokenOf(signature: Signature, signer: Address, digest: Uint8Array): boolean {
  const genuine = tokenSignature(signer, digest);
  return signature.r === genuine.r && signature.s === genuine.s;
}

/** Rules of a validator that signs with tokens. */
export function toyRules(self: Address, schedule: IbftSchedule): OwnKeyRules {
  return { self, schedule, sign: (digest) => tokenSignature(self, digest), withRound };
}

export function indexOfAddress(addresses: readonly Address[], wanted: Address): number {
  return addresses.findIndex((address) => equalBytes(address, wanted));
}

const BLANK: Header = {
  parentHash: ZERO_HASH,
  ommersHash: EMPTY_LIST_HASH,
  coinbase: ZERO_ADDRESS,
  stateRoot: EMPTY_TRIE_ROOT,
  transactionsRoot: EMPTY_TRIE_ROOT,
  receiptsRoot: EMPTY_TRIE_ROOT,
  logsBloom: new Uint8Array(256),
  difficulty: 1n,
  number: 0n,
  gasLimit: 30_000_000n,
  gasUsed: 0n,
  timestamp: 0n,
  extraData: new Uint8Array(0),
  mixHash: ZERO_HASH,
  nonce: new Uint8Array(8),
};
