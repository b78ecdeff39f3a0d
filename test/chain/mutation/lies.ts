import type { BlockErrorCode } from "../../../src/chain/importBlock.ts";
import { concatBytes, EMPTY_BYTES } from "../../../src/primitives/hex.ts";
import { SECP256K1_ORDER, type Signature } from "../../../src/primitives/secp256k1.ts";
import { type ExtraData, encodeExtraData } from "../../../src/types/extraData.ts";
import type { Header } from "../../../src/types/header.ts";
import { account } from "../../builders/testAccounts.ts";
import type { Ground } from "./ground.ts";

/**
 * What becomes of a changed block that its validators have sealed anew. "free" is a field that no rule of an import
 * speaks about (ibft2.md#header-rules): a quorum that seals another value has made another sound block. With
 * the seals of the genuine block such a change is still refused, because they do not fit it.
 */
export type Verdict = BlockErrorCode | "free";

export interface HeaderLie {
  readonly says: string;
  /** Undefined where the ground has no such value. */
  change(ground: Ground): Partial<Header> | undefined;
  /** Several where it depends on what the transactions happen to do. */
  readonly verdict: Verdict | readonly Verdict[] | ((ground: Ground) => Verdict | readonly Verdict[]);
}

const MAX_WORD = 2n ** 256n - 1n;

/** Lies about every field of a header; a field without an entry does not compile. */
export const HEADER_LIES: Readonly<Record<keyof Header, readonly HeaderLie[]>> = {
  parentHash: [
    ...bytesLies("parentHash", "wrongParent"),
    {
      says: "grandparent",
      change: ({ parent }) => ({ parentHash: parent.header.parentHash }),
      verdict: "wrongParent",
    },
  ],
  ommersHash: bytesLies("ommersHash", "ommersNotEmpty"),
  coinbase: [
    { says: "a stranger", change: () => ({ coinbase: account(9).address }), verdict: "coinbaseNotValidator" },
    ...bytesLies("coinbase", "coinbaseNotValidator"),
    {
      says: "another validator",
      change({ block, extra }) {
        const other = extra.validators.find((each) => Buffer.compare(each, block.header.coinbase) !== 0);
        return other && { coinbase: other };
      },
      verdict: ({ paysCoinbase }) => (paysCoinbase ? "wrongStateRoot" : "free"),
    },
  ],
  stateRoot: bytesLies("stateRoot", "wrongStateRoot"),
  transactionsRoot: bytesLies("transactionsRoot", "wrongTransactionsRoot"),
  receiptsRoot: bytesLies("receiptsRoot", "wrongReceiptsRoot"),
  logsBloom: bytesLies("logsBloom", "wrongLogsBloom"),
  difficulty: [0n, 2n, 2n ** 64n, MAX_WORD].map((difficulty) => ({
    says: String(difficulty),
    change: () => ({ difficulty }),
    verdict: "wrongDifficulty",
  })),
  number: [-1n, 1n, 1000n, MAX_WORD].map((step) => ({
    says: `more by ${step}`,
    change: ({ block }) => ({ number: step === MAX_WORD ? step : block.header.number + step }),
    verdict: "wrongNumber",
  })),
  gasLimit: [
    {
      says: "below what was used",
      change: ({ block }) => ({ gasLimit: block.header.gasUsed - 1n }),
      verdict: "gasUsedAboveLimit",
    },
    {
      says: "below the smallest",
      change: () => ({ gasLimit: 4999n, gasUsed: 0n }),
      verdict: "gasLimitOutOfBounds",
    },
    { says: "above the largest", change: () => ({ gasLimit: 2n ** 63n }), verdict: "gasLimitOutOfBounds" },
    {
      says: "a jump up",
      change: ({ parent }) => ({ gasLimit: parent.header.gasLimit + parent.header.gasLimit / 1024n }),
      verdict: "gasLimitJump",
    },
    {
      says: "a jump down",
      change: ({ parent }) => ({ gasLimit: parent.header.gasLimit - parent.header.gasLimit / 1024n }),
      verdict: "gasLimitJump",
    },
    {
      says: "a small step",
      change: ({ block }) => ({ gasLimit: block.header.gasLimit - 1n }),
      verdict: "free",
    },
  ],
  gasUsed: [
    {
      says: "one more",
      change: ({ block }) => ({ gasUsed: block.header.gasUsed + 1n }),
      verdict: "wrongGasUsed",
    },
    {
      says: "one less",
      change: ({ block }) => ({ gasUsed: block.header.gasUsed - 1n }),
      verdict: "wrongGasUsed",
    },
    { says: "nothing", change: () => ({ gasUsed: 0n }), verdict: "wrongGasUsed" },
    {
      says: "more than the limit",
      change: ({ block }) => ({ gasUsed: block.header.gasLimit + 1n }),
      verdict: "gasUsedAboveLimit",
    },
    { says: "the largest", change: () => ({ gasUsed: MAX_WORD }), verdict: "gasUsedAboveLimit" },
  ],
  timestamp: [
    {
      says: "the parent's",
      change: ({ parent }) => ({ timestamp: parent.header.timestamp }),
      verdict: "timestampTooEarly",
    },
    { says: "none", change: () => ({ timestamp: 0n }), verdict: "timestampTooEarly" },
    {
      says: "two seconds ahead",
      change: ({ nowMs }) => ({ timestamp: BigInt(Math.floor(nowMs / 1000)) + 2n }),
      verdict: "timestampInFuture",
    },
    { says: "the largest", change: () => ({ timestamp: MAX_WORD }), verdict: "timestampInFuture" },
    {
      says: "a second later",
      change: ({ block }) => ({ timestamp: block.header.timestamp + 1n }),
      verdict: "free",
    },
  ],
  extraData: [
    { says: "nothing", change: () => ({ extraData: EMPTY_BYTES }), verdict: "malformedExtraData" },
    {
      says: "noise",
      change: () => ({ extraData: new Uint8Array(97).fill(0xc1) }),
      verdict: "malformedExtraData",
    },
    {
      says: "a byte more",
      change: ({ block }) => ({
        extraData: concatBytes(block.header.extraData, EMPTY_BYTES, Uint8Array.of(0)),
      }),
      verdict: "malformedExtraData",
    },
    {
      says: "a byte less",
      change: ({ block }) => ({ extraData: block.header.extraData.slice(0, -1) }),
      verdict: "malformedExtraData",
    },
  ],
  mixHash: bytesLies("mixHash", "wrongMixHash"),
  nonce: bytesLies("nonce", "wrongNonce"),
  baseFeePerGas: [
    {
      says: "the other way about",
      change: ({ block }) =>
        ({ baseFeePerGas: block.header.baseFeePerGas === undefined ? 0n : undefined }) as Partial<Header>,
      verdict: ({ block }) =>
        block.header.baseFeePerGas === undefined ? "baseFeeBeforeLondon" : "baseFeeMissing",
    },
    {
      says: "one more",
      change: ({ block }) =>
        underLondon(block.header, { baseFeePerGas: (block.header.baseFeePerGas ?? 0n) + 1n }),
      // No rule is about its value, but whoever pays it shows in the state.
      verdict: ["invalidTransaction", "wrongStateRoot"],
    },
    {
      says: "more than anyone pays",
      change: ({ block }) => underLondon(block.header, { baseFeePerGas: MAX_WORD }),
      verdict: "invalidTransaction",
    },
  ],
  // Fields of later forks, which no IBFT header has and no rule forbids, as with the incumbent.
  withdrawalsRoot: [
    {
      says: "present",
      change: ({ block }) => underLondon(block.header, LATER_FIELDS.shanghai),
      verdict: "free",
    },
  ],
  blobGasUsed: [
    {
      says: "present",
      change: ({ block }) => underLondon(block.header, { ...LATER_FIELDS.cancun, blobGasUsed: 5n }),
      verdict: "free",
    },
  ],
  excessBlobGas: [
    {
      says: "present",
      change: ({ block }) => underLondon(block.header, { ...LATER_FIELDS.cancun, excessBlobGas: MAX_WORD }),
      verdict: "free",
    },
  ],
  parentBeaconBlockRoot: [
    {
      says: "present",
      change: ({ block }) => underLondon(block.header, LATER_FIELDS.beacon),
      verdict: "free",
    },
  ],
  requestsHash: [
    {
      says: "present",
      change: ({ block }) => underLondon(block.header, LATER_FIELDS.prague),
      verdict: "free",
    },
  ],
};

export interface ExtraLie {
  readonly says: string;
  /** The extra data before it is sealed, with who seals; or whole bytes, which nobody can have sealed. */
  change(
    ground: Ground,
  ):
    | { readonly extra: ExtraData; readonly sealers?: readonly Uint8Array[] }
    | { readonly raw: Uint8Array }
    | undefined;
  readonly verdict: Verdict;
}

/** Lies about every part of the extra data. */
export const EXTRA_LIES: Readonly<Record<keyof ExtraData, readonly ExtraLie[]>> = {
  vanity: [0, 31, 33, 1000].map((length) => ({
    says: `${length} bytes`,
    change: ({ extra }) => ({ extra: { ...extra, vanity: new Uint8Array(length).fill(7) } }),
    verdict: "free",
  })),
  validators: [
    {
      says: "none",
      change: ({ extra }) => ({ extra: { ...extra, validators: [] } }),
      verdict: "wrongValidators",
    },
    {
      says: "one missing",
      change: ({ extra }) => ({ extra: { ...extra, validators: extra.validators.slice(1) } }),
      verdict: "wrongValidators",
    },
    {
      says: "one twice",
      change: ({ extra }) => ({
        extra: { ...extra, validators: [...extra.validators, ...extra.validators.slice(-1)] },
      }),
      verdict: "wrongValidators",
    },
    {
      says: "a stranger added",
      change: ({ extra }) => ({
        extra: { ...extra, validators: [...extra.validators, account(9).address].sort(Buffer.compare) },
      }),
      verdict: "wrongValidators",
    },
    {
      says: "a stranger in one's place",
      change: ({ extra }) => ({
        extra: {
          ...extra,
          validators: [...extra.validators.slice(1), account(9).address].sort(Buffer.compare),
        },
      }),
      verdict: "wrongValidators",
    },
    {
      says: "in reverse order",
      change: ({ extra }) => ({ extra: { ...extra, validators: [...extra.validators].reverse() } }),
      verdict: "wrongValidators",
    },
    {
      says: "one of 19 bytes",
      change: rawExtra((extra) => ({
        ...extra,
        validators: extra.validators.map((each, at) => (at === 0 ? each.slice(1) : each)) as never,
      })),
      verdict: "malformedExtraData",
    },
  ],
  vote: [
    {
      says: "another",
      change: ({ extra }) => ({ extra: { ...extra, vote: { recipient: account(8).address, kind: "drop" } } }),
      verdict: "free",
    },
    {
      says: "of 21 bytes",
      change: rawExtra((extra) => ({
        ...extra,
        vote: { recipient: new Uint8Array(21) as never, kind: "add" },
      })),
      verdict: "malformedExtraData",
    },
  ],
  round: [
    {
      says: "another",
      change: ({ extra }) => ({ extra: { ...extra, round: extra.round + 1 } }),
      verdict: "free",
    },
    {
      says: "the largest",
      change: ({ extra }) => ({ extra: { ...extra, round: 2 ** 32 - 1 } }),
      verdict: "free",
    },
  ],
  seals: [
    { says: "none", change: ({ extra }) => ({ extra, sealers: [] }), verdict: "tooFewSeals" },
    {
      says: "one too few",
      change: ({ extra, validatorKeys }) => ({
        extra,
        sealers: (validatorKeys ?? []).slice(0, quorumOf(extra) - 1),
      }),
      verdict: "tooFewSeals",
    },
    {
      says: "one twice",
      change: ({ extra, validatorKeys }) => ({
        extra,
        sealers: [...(validatorKeys ?? []), ...(validatorKeys ?? []).slice(-1)],
      }),
      verdict: "duplicateSeal",
    },
    {
      says: "a stranger's beside them",
      change: ({ extra, validatorKeys }) => ({
        extra,
        sealers: [...(validatorKeys ?? []), account(9).privateKey],
      }),
      verdict: "sealerNotValidator",
    },
    {
      says: "those of another round",
      change: ({ extra }) => ({ raw: encodeExtraData({ ...extra, round: extra.round + 1 }) }),
      verdict: "sealerNotValidator",
    },
    { says: "r of zero", change: sealChanged((seal) => ({ ...seal, r: 0n })), verdict: "malformedExtraData" },
    {
      says: "s of the order",
      change: sealChanged((seal) => ({ ...seal, s: SECP256K1_ORDER })),
      verdict: "malformedExtraData",
    },
    {
      says: "a parity of 2",
      change: sealChanged((seal) => ({ ...seal, yParity: 2 as never })),
      verdict: "malformedExtraData",
    },
    {
      says: "r that is on no curve",
      change: sealChanged((seal) => ({ ...seal, r: 5n })),
      verdict: "unreadableSeal",
    },
    {
      says: "the other parity",
      change: sealChanged((seal) => ({ ...seal, yParity: seal.yParity === 0 ? 1 : 0 })),
      verdict: "sealerNotValidator",
    },
  ],
};

function bytesLies(field: keyof Header, verdict: Verdict): readonly HeaderLie[] {
  const flipped = (says: string, bits: (at: number, length: number) => number): HeaderLie => ({
    says,
    change({ block }) {
      const bytes = block.header[field] as Uint8Array;
      return { [field]: bytes.map((byte, at) => byte ^ bits(at, bytes.length)) };
    },
    verdict,
  });
  return [
    flipped("its first bit flipped", (at) => (at === 0 ? 0x80 : 0)),
    flipped("its last bit flipped", (at, length) => (at === length - 1 ? 1 : 0)),
    flipped("every bit flipped", () => 0xff),
  ];
}

function rawExtra(change: (extra: ExtraData) => ExtraData): ExtraLie["change"] {
  return ({ extra }) => ({ raw: encodeExtraData(change(extra)) });
}

function sealChanged(change: (seal: Signature) => Signature): ExtraLie["change"] {
  return rawExtra((extra) => ({
    ...extra,
    seals: extra.seals.map((seal, at) => (at === 0 ? change(seal) : seal)),
  }));
}

function quorumOf({ validators }: ExtraData): number {
  return Math.ceil((2 * validators.length) / 3);
}

function underLondon(header: Header, change: Partial<Header>): Partial<Header> | undefined {
  return header.baseFeePerGas === undefined ? undefined : change;
}

const SOME_HASH = new Uint8Array(32).fill(0x5a) as Header["parentHash"];
const SHANGHAI = { withdrawalsRoot: SOME_HASH };
const CANCUN = { ...SHANGHAI, blobGasUsed: 0n, excessBlobGas: 0n };
const BEACON = { ...CANCUN, parentBeaconBlockRoot: SOME_HASH };
const LATER_FIELDS = {
  shanghai: SHANGHAI,
  cancun: CANCUN,
  beacon: BEACON,
  prague: { ...BEACON, requestsHash: SOME_HASH },
};
