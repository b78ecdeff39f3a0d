import type { BlockErrorCode } from "../../../src/chain/blockError.ts";
import { concatBytes, EMPTY_BYTES } from "../../../src/primitives/hex.ts";
import { SECP256K1_ORDER, type Signature } from "../../../src/primitives/secp256k1.ts";
import { type ExtraData, encodeExtraData } from "../../../src/types/extraData.ts";
import type { Header } from "../../../src/types/header.ts";
import { account } from "../../builders/testAccounts.ts";
import type { BlockFixture } from "./fixture.ts";

/**
 * Result of importing a changed block that its validators have resealed. "accepted" is for a value that no import rule
 * checks (ibft2.md#header-rules): a quorum that seals another value makes another valid block. With the original seals
 * such a change is still rejected, because they do not match it.
 */
export type ImportResult = BlockErrorCode | "accepted";

export interface HeaderMutation {
  readonly name: string;
  /** Undefined where the fixture has no such value. */
  change(fixture: BlockFixture): Partial<Header> | undefined;
  /** Several where it depends on what the transactions do. */
  readonly expected:
    | ImportResult
    | readonly ImportResult[]
    | ((fixture: BlockFixture) => ImportResult | readonly ImportResult[]);
}

const MAX_WORD = 2n ** 256n - 1n;

/** Mutations of every header field; a field without an entry does not compile. */
export const HEADER_MUTATIONS: Readonly<Record<keyof Header, readonly HeaderMutation[]>> = {
  parentHash: [
    ...bytesMutations("parentHash", "wrongParent"),
    {
      name: "grandparent",
      change: ({ parent }) => ({ parentHash: parent.header.parentHash }),
      expected: "wrongParent",
    },
  ],
  ommersHash: bytesMutations("ommersHash", "ommersNotEmpty"),
  coinbase: [
    {
      name: "a non-validator",
      change: () => ({ coinbase: account(9).address }),
      expected: "coinbaseNotValidator",
    },
    ...bytesMutations("coinbase", "coinbaseNotValidator"),
    {
      name: "another validator",
      change({ block, extra }) {
        const other = extra.validators.find((each) => Buffer.compare(each, block.header.coinbase) !== 0);
        return other && { coinbase: other };
      },
      expected: ({ paysCoinbase }) => (paysCoinbase ? "wrongStateRoot" : "accepted"),
    },
  ],
  stateRoot: bytesMutations("stateRoot", "wrongStateRoot"),
  transactionsRoot: bytesMutations("transactionsRoot", "wrongTransactionsRoot"),
  receiptsRoot: bytesMutations("receiptsRoot", "wrongReceiptsRoot"),
  logsBloom: bytesMutations("logsBloom", "wrongLogsBloom"),
  difficulty: [0n, 2n, 2n ** 64n, MAX_WORD].map((difficulty) => ({
    name: String(difficulty),
    change: () => ({ difficulty }),
    expected: "wrongDifficulty",
  })),
  number: [-1n, 1n, 1000n, MAX_WORD].map((step) => ({
    name: `more by ${step}`,
    change: ({ block }) => ({ number: step === MAX_WORD ? step : block.header.number + step }),
    expected: "wrongNumber",
  })),
  gasLimit: [
    {
      name: "below the gas used",
      change: ({ block }) => ({ gasLimit: block.header.gasUsed - 1n }),
      expected: "gasUsedAboveLimit",
    },
    {
      name: "below the smallest",
      change: () => ({ gasLimit: 4999n, gasUsed: 0n }),
      expected: "gasLimitOutOfBounds",
    },
    { name: "above the largest", change: () => ({ gasLimit: 2n ** 63n }), expected: "gasLimitOutOfBounds" },
    {
      name: "a jump up",
      change: ({ parent }) => ({ gasLimit: parent.header.gasLimit + parent.header.gasLimit / 1024n }),
      expected: "gasLimitJump",
    },
    {
      name: "a jump down",
      change: ({ parent }) => ({ gasLimit: parent.header.gasLimit - parent.header.gasLimit / 1024n }),
      expected: "gasLimitJump",
    },
    {
      name: "a small step",
      change: ({ block }) => ({ gasLimit: block.header.gasLimit - 1n }),
      expected: "accepted",
    },
  ],
  gasUsed: [
    {
      name: "one more",
      change: ({ block }) => ({ gasUsed: block.header.gasUsed + 1n }),
      expected: "wrongGasUsed",
    },
    {
      name: "one less",
      change: ({ block }) => ({ gasUsed: block.header.gasUsed - 1n }),
      expected: "wrongGasUsed",
    },
    { name: "nothing", change: () => ({ gasUsed: 0n }), expected: "wrongGasUsed" },
    {
      name: "more than the limit",
      change: ({ block }) => ({ gasUsed: block.header.gasLimit + 1n }),
      expected: "gasUsedAboveLimit",
    },
    { name: "the largest", change: () => ({ gasUsed: MAX_WORD }), expected: "gasUsedAboveLimit" },
  ],
  timestamp: [
    {
      name: "the parent's",
      change: ({ parent }) => ({ timestamp: parent.header.timestamp }),
      expected: "timestampTooEarly",
    },
    { name: "none", change: () => ({ timestamp: 0n }), expected: "timestampTooEarly" },
    {
      name: "two seconds ahead",
      change: ({ nowMs }) => ({ timestamp: BigInt(Math.floor(nowMs / 1000)) + 2n }),
      expected: "timestampInFuture",
    },
    { name: "the largest", change: () => ({ timestamp: MAX_WORD }), expected: "timestampInFuture" },
    {
      name: "a second later",
      change: ({ block }) => ({ timestamp: block.header.timestamp + 1n }),
      expected: "accepted",
    },
  ],
  extraData: [
    { name: "nothing", change: () => ({ extraData: EMPTY_BYTES }), expected: "malformedExtraData" },
    {
      name: "noise",
      change: () => ({ extraData: new Uint8Array(97).fill(0xc1) }),
      expected: "malformedExtraData",
    },
    {
      name: "a byte more",
      change: ({ block }) => ({
        extraData: concatBytes(block.header.extraData, EMPTY_BYTES, Uint8Array.of(0)),
      }),
      expected: "malformedExtraData",
    },
    {
      name: "a byte less",
      change: ({ block }) => ({ extraData: block.header.extraData.slice(0, -1) }),
      expected: "malformedExtraData",
    },
  ],
  mixHash: bytesMutations("mixHash", "wrongMixHash"),
  nonce: bytesMutations("nonce", "wrongNonce"),
  baseFeePerGas: [
    {
      name: "present and absent swapped",
      change: ({ block }) =>
        ({ baseFeePerGas: block.header.baseFeePerGas === undefined ? 0n : undefined }) as Partial<Header>,
      expected: ({ block }) =>
        block.header.baseFeePerGas === undefined ? "baseFeeBeforeLondon" : "baseFeeMissing",
    },
    {
      name: "one more",
      change: ({ block }) =>
        underLondon(block.header, { baseFeePerGas: (block.header.baseFeePerGas ?? 0n) + 1n }),
      // No rule checks its value, but paying it changes the state.
      expected: ["invalidTransaction", "wrongStateRoot"],
    },
    {
      name: "more than anyone pays",
      change: ({ block }) => underLondon(block.header, { baseFeePerGas: MAX_WORD }),
      expected: "invalidTransaction",
    },
  ],
  // Fields of later forks, which no IBFT header has and no rule forbids, as in Besu.
  withdrawalsRoot: [
    {
      name: "present",
      change: ({ block }) => underLondon(block.header, LATER_FIELDS.shanghai),
      expected: "accepted",
    },
  ],
  blobGasUsed: [
    {
      name: "present",
      change: ({ block }) => underLondon(block.header, { ...LATER_FIELDS.cancun, blobGasUsed: 5n }),
      expected: "accepted",
    },
  ],
  excessBlobGas: [
    {
      name: "present",
      change: ({ block }) => underLondon(block.header, { ...LATER_FIELDS.cancun, excessBlobGas: MAX_WORD }),
      expected: "accepted",
    },
  ],
  parentBeaconBlockRoot: [
    {
      name: "present",
      change: ({ block }) => underLondon(block.header, LATER_FIELDS.beacon),
      expected: "accepted",
    },
  ],
  requestsHash: [
    {
      name: "present",
      change: ({ block }) => underLondon(block.header, LATER_FIELDS.prague),
      expected: "accepted",
    },
  ],
};

export interface ExtraDataMutation {
  readonly name: string;
  /** The extra data to seal, with the keys that seal it; or raw bytes, which cannot be sealed. */
  change(
    fixture: BlockFixture,
  ):
    | { readonly extra: ExtraData; readonly sealers?: readonly Uint8Array[] }
    | { readonly raw: Uint8Array }
    | undefined;
  readonly expected: ImportResult;
}

/** Mutations of every part of the extra data. */
export const EXTRA_DATA_MUTATIONS: Readonly<Record<keyof ExtraData, readonly ExtraDataMutation[]>> = {
  vanity: [0, 31, 33, 1000].map((length) => ({
    name: `${length} bytes`,
    change: ({ extra }) => ({ extra: { ...extra, vanity: new Uint8Array(length).fill(7) } }),
    expected: "accepted",
  })),
  validators: [
    {
      name: "none",
      change: ({ extra }) => ({ extra: { ...extra, validators: [] } }),
      expected: "wrongValidators",
    },
    {
      name: "one missing",
      change: ({ extra }) => ({ extra: { ...extra, validators: extra.validators.slice(1) } }),
      expected: "wrongValidators",
    },
    {
      name: "one twice",
      change: ({ extra }) => ({
        extra: { ...extra, validators: [...extra.validators, ...extra.validators.slice(-1)] },
      }),
      expected: "wrongValidators",
    },
    {
      name: "a non-validator added",
      change: ({ extra }) => ({
        extra: { ...extra, validators: [...extra.validators, account(9).address].sort(Buffer.compare) },
      }),
      expected: "wrongValidators",
    },
    {
      name: "one replaced by a non-validator",
      change: ({ extra }) => ({
        extra: {
          ...extra,
          validators: [...extra.validators.slice(1), account(9).address].sort(Buffer.compare),
        },
      }),
      expected: "wrongValidators",
    },
    {
      name: "in reverse order",
      change: ({ extra }) => ({ extra: { ...extra, validators: [...extra.validators].reverse() } }),
      expected: "wrongValidators",
    },
    {
      name: "one of 19 bytes",
      change: rawExtra((extra) => ({
        ...extra,
        validators: extra.validators.map((each, at) => (at === 0 ? each.slice(1) : each)) as never,
      })),
      expected: "malformedExtraData",
    },
  ],
  vote: [
    {
      name: "another",
      change: ({ extra }) => ({ extra: { ...extra, vote: { recipient: account(8).address, kind: "drop" } } }),
      expected: "accepted",
    },
    {
      name: "of 21 bytes",
      change: rawExtra((extra) => ({
        ...extra,
        vote: { recipient: new Uint8Array(21) as never, kind: "add" },
      })),
      expected: "malformedExtraData",
    },
  ],
  round: [
    {
      name: "another",
      change: ({ extra }) => ({ extra: { ...extra, round: extra.round + 1 } }),
      expected: "accepted",
    },
    {
      name: "the largest",
      change: ({ extra }) => ({ extra: { ...extra, round: 2 ** 32 - 1 } }),
      expected: "accepted",
    },
  ],
  seals: [
    { name: "none", change: ({ extra }) => ({ extra, sealers: [] }), expected: "tooFewSeals" },
    {
      name: "one too few",
      change: ({ extra, validatorKeys }) => ({
        extra,
        sealers: (validatorKeys ?? []).slice(0, quorumOf(extra) - 1),
      }),
      expected: "tooFewSeals",
    },
    {
      name: "one twice",
      change: ({ extra, validatorKeys }) => ({
        extra,
        sealers: [...(validatorKeys ?? []), ...(validatorKeys ?? []).slice(-1)],
      }),
      expected: "duplicateSeal",
    },
    {
      name: "one more by a non-validator",
      change: ({ extra, validatorKeys }) => ({
        extra,
        sealers: [...(validatorKeys ?? []), account(9).privateKey],
      }),
      expected: "sealerNotValidator",
    },
    {
      name: "those of another round",
      change: ({ extra }) => ({ raw: encodeExtraData({ ...extra, round: extra.round + 1 }) }),
      expected: "sealerNotValidator",
    },
    {
      name: "r of zero",
      change: sealChanged((seal) => ({ ...seal, r: 0n })),
      expected: "malformedExtraData",
    },
    {
      name: "s of the order",
      change: sealChanged((seal) => ({ ...seal, s: SECP256K1_ORDER })),
      expected: "malformedExtraData",
    },
    {
      name: "a parity of 2",
      change: sealChanged((seal) => ({ ...seal, yParity: 2 as never })),
      expected: "malformedExtraData",
    },
    {
      name: "r that is on no curve",
      change: sealChanged((seal) => ({ ...seal, r: 5n })),
      expected: "unreadableSeal",
    },
    {
      name: "the other parity",
      change: sealChanged((seal) => ({ ...seal, yParity: seal.yParity === 0 ? 1 : 0 })),
      expected: "sealerNotValidator",
    },
  ],
};

function bytesMutations(field: keyof Header, expected: ImportResult): readonly HeaderMutation[] {
  const flipped = (name: string, bits: (at: number, length: number) => number): HeaderMutation => ({
    name,
    change({ block }) {
      const bytes = block.header[field] as Uint8Array;
      return { [field]: bytes.map((byte, at) => byte ^ bits(at, bytes.length)) };
    },
    expected,
  });
  return [
    flipped("its first bit flipped", (at) => (at === 0 ? 0x80 : 0)),
    flipped("its last bit flipped", (at, length) => (at === length - 1 ? 1 : 0)),
    flipped("every bit flipped", () => 0xff),
  ];
}

function rawExtra(change: (extra: ExtraData) => ExtraData): ExtraDataMutation["change"] {
  return ({ extra }) => ({ raw: encodeExtraData(change(extra)) });
}

function sealChanged(change: (seal: Signature) => Signature): ExtraDataMutation["change"] {
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
