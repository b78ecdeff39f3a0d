import { type Address, ZERO_ADDRESS } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";
import { EMPTY_LIST_HASH, EMPTY_TRIE_ROOT, type Hash, hashFromHex, ZERO_HASH } from "../primitives/hash.ts";
import { EMPTY_BYTES } from "../primitives/hex.ts";
import { parseJavaNumber } from "../primitives/javaLong.ts";
import { bigintToBytes, bigintToFixedBytes } from "../primitives/quantity.ts";
import type { Header } from "../types/header.ts";
import type { GenesisAccount } from "./chainSpec.ts";
import { type ForkSchedule, forkAt, isAtLeast } from "./forks.ts";
import type { GenesisSection } from "./genesisSection.ts";

/** Base fee of the first London block when the genesis file has none: 1 gwei. */
export const DEFAULT_BASE_FEE_PER_GAS = 1_000_000_000n;

const MAX_LONG = 2n ** 63n - 1n;
const MAX_WORD = 2n ** 256n - 1n;
/** Numbers that Besu decodes as Java's longs. */
const DECODED_LONG = { max: MAX_LONG, bareDigits: "java" } as const;
/** Numbers that Besu reads as bytes. */
const BYTES = { bareDigits: "hexadecimal", mayBeEmpty: true } as const;
/** sha256 of no bytes: the hash of a block's requests when there are none (EIP-7685). */
const NO_REQUESTS_HASH = hashFromHex("0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");

/**
 * The header of block zero (ibft2.md#genesis-block), with the empty state root instead of the one that follows from `alloc`.
 * It has a base fee when the file has one or London is active from block 0, regardless of `zeroBaseFee`. Forks by time that
 * are active at the genesis time add their fields here only: later IBFT blocks keep London's fields.
 */
export function readGenesisHeader(root: GenesisSection, forks: ForkSchedule): Header {
  const timestamp = root.wholeNumber("timestamp", DECODED_LONG) ?? 0n;
  const fork = forkAt(forks, 0n, timestamp);
  const baseFeePerGas =
    readBaseFee(root) ?? (isLondonAtGenesis(forks) ? DEFAULT_BASE_FEE_PER_GAS : undefined);
  if (isAtLeast(fork, "shanghai") && baseFeePerGas === undefined) {
    throw root.error(
      "config",
      `${fork} is active in the genesis block, so London must be too: config.londonBlock must be 0`,
    );
  }
  return {
    parentHash: root.hash("parentHash") ?? ZERO_HASH,
    ommersHash: EMPTY_LIST_HASH,
    coinbase: root.address("coinbase") ?? ZERO_ADDRESS,
    stateRoot: EMPTY_TRIE_ROOT,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(256),
    difficulty: required(root, ["difficulty"], root.wholeNumber("difficulty", { max: MAX_WORD, ...BYTES })),
    number: 0n,
    gasLimit: readGasLimit(root),
    gasUsed: 0n,
    timestamp,
    extraData: root.bytes("extraData") ?? EMPTY_BYTES,
    mixHash: root.hash("mixHash") ?? ZERO_HASH,
    nonce: bigintToFixedBytes(
      root.wholeNumber("nonce", { max: 2n ** 64n - 1n, bareDigits: "hexadecimal" }) ?? 0n,
      8,
    ),
    ...(baseFeePerGas !== undefined && { baseFeePerGas }),
    ...(isAtLeast(fork, "shanghai") && { withdrawalsRoot: EMPTY_TRIE_ROOT }),
    ...(isAtLeast(fork, "cancun") && readBlobFields(root)),
    ...(isAtLeast(fork, "prague") && { requestsHash: NO_REQUESTS_HASH }),
  };
}

/** Reads the base fee, wei; undefined when the file has none. */
export function readBaseFee(root: GenesisSection): bigint | undefined {
  return root.wholeNumber("baseFeePerGas", DECODED_LONG);
}

/** The accounts of `alloc`, in the order of the file. The later of two accounts with the same address wins, as in Besu. */
export function readAlloc(root: GenesisSection): readonly GenesisAccount[] {
  const accounts = new Map<string, GenesisAccount>();
  for (const alloc of root.section("alloc")?.perMember() ?? [])
    for (const key of alloc.keys()) {
      const account = readAccount(alloc, key);
      accounts.set(toKey(account.address), account);
    }
  return [...accounts.values()];
}

function readAccount(alloc: GenesisSection, key: string): GenesisAccount {
  const address: Address = alloc.addressOfKey(key);
  const section = alloc.section(key);
  return {
    address,
    nonce: section?.wholeNumber("nonce", { max: 2n ** 64n - 1n, bareDigits: "hexadecimal" }) ?? 0n,
    balance: section?.wholeNumber("balance", { max: MAX_WORD, mayBeEmpty: true }) ?? 0n,
    code: section?.lenientBytes("code") ?? EMPTY_BYTES,
    storage: readStorage(section?.section("storage")),
  };
}

function readStorage(section: GenesisSection | undefined): GenesisAccount["storage"] {
  if (section === undefined) return [];
  const slots = new Map<string, { slot: Hash; value: Uint8Array }>();
  for (const member of section.perMember())
    for (const key of member.keys()) {
      const slot = member.slotOfKey(key);
      const value = member.wholeNumber(key, { max: MAX_WORD, ...BYTES }) ?? 0n;
      slots.set(toKey(slot), { slot, value: bigintToBytes(value) });
    }
  return [...slots.values()].filter(({ value }) => value.length > 0);
}

function readGasLimit(root: GenesisSection): bigint {
  const key = gasLimitKey(root);
  return required(root, ["gasLimit", "gasTarget"], root.wholeNumber(key, DECODED_LONG));
}

function gasLimitKey(root: GenesisSection): string {
  return root.has("gasLimit") ? "gasLimit" : "gasTarget";
}

/** Warns of numbers with a leading zero, which are octal: hardly ever what was meant, but what Besu's chain has. */
export function octalWarnings(root: GenesisSection): readonly string[] {
  return [gasLimitKey(root), "timestamp", "baseFeePerGas"].flatMap((key) => {
    const written = root.valueText(key);
    const [, text = "", digits = ""] = /^'([+-]?(0\d+))'$/.exec(written) ?? [];
    const value = parseJavaNumber(text);
    if (value === undefined || value === BigInt(digits)) return [];
    return `${key} ${written} of the genesis file begins with a zero: it is an octal number, ${value}, as in Besu.`;
  });
}

function readBlobFields(
  root: GenesisSection,
): Pick<Header, "blobGasUsed" | "excessBlobGas" | "parentBeaconBlockRoot"> {
  const number = (key: string): bigint =>
    root.wholeNumber(key, { max: MAX_LONG, bareDigits: "hexadecimal" }) ?? 0n;
  return {
    blobGasUsed: number("blobGasUsed"),
    excessBlobGas: number("excessBlobGas"),
    parentBeaconBlockRoot: root.hash("parentBeaconBlockRoot") ?? ZERO_HASH,
  };
}

function required<T>(root: GenesisSection, keys: readonly [string, ...string[]], value: T | undefined): T {
  if (value !== undefined) return value;
  throw root.error(
    keys[0],
    `Invalid genesis block configuration, missing value for one of '[${keys.join(", ")}]'`,
  );
}

function isLondonAtGenesis(forks: ForkSchedule): boolean {
  return forks.activations.some(({ fork, at }) => fork === "london" && "block" in at && at.block === 0n);
}
