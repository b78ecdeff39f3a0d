import { addressFromHex } from "../../../src/primitives/address.ts";
import { EMPTY_LIST_HASH, EMPTY_TRIE_ROOT, hashFromHex } from "../../../src/primitives/hash.ts";
import { toDigits, toHex } from "../../../src/primitives/hex.ts";
import { addressOfPrivateKey } from "../../../src/primitives/secp256k1.ts";
import { setNibble } from "../../../src/state/trie/nibbles.ts";
import { payloadStart, readPath, writeHeader, writePath } from "../../../src/state/trie/nodeRlp.ts";
import { decodeBlock, encodeBlock } from "../../../src/types/block.ts";
import { hashOfHeader } from "../../../src/types/blockHash.ts";
import { EMPTY_BLOOM } from "../../../src/types/bloom.ts";
import type { Header } from "../../../src/types/header.ts";
import { readVectorJson } from "../../vectors.ts";
import type { Case, Failure, Suite } from "../suite.ts";
import { bytesOfHex, type PreAccount, worldOf } from "./preState.ts";

/**
 * BasicTests: hex-prefix paths, addresses of keys, genesis blocks. Excluded: crypto.json (AES and ECIES), which only the
 * peer-to-peer handshake needs; and the signatures of keyaddrtest.json, whose digest is not in the file.
 */
export const BASIC: Suite = {
  name: "basic",
  total: 18,
  every: 1,
  cases: () => [...hexPrefixCases(), ...keyCases(), mainNetGenesis(), ...genesisCases()],
};

interface HexPrefixTest {
  readonly seq: readonly number[];
  /** True for the path of a leaf. */
  readonly term: boolean;
  readonly out: string;
}

function hexPrefixCases(): Case[] {
  const tests = readVectorJson<Record<string, HexPrefixTest>>("basic-tests", "hexencodetest.json");
  return Object.entries(tests).map(([title, test]) => ({
    id: `hexencodetest ${title}`,
    run: () => checkHexPrefix(test),
  }));
}

/** Encodes the path as the first item of a two-item node, as our encoder does. */
function checkHexPrefix({ seq, term, out }: HexPrefixTest): Failure | undefined {
  const key = new Uint8Array(32);
  for (const [depth, nibble] of seq.entries()) setNibble(key, depth, nibble);
  const node = new Uint8Array(40);
  const itemAt = writeHeader(node, 0, 0, 0xc0);
  const end = writePath(node, itemAt, key, 0, seq.length, term ? 0x20 : 0);
  writeHeader(node, 0, end - itemAt, 0xc0);
  const path = toDigits(node.subarray(payloadStart(node, itemAt), end));
  if (path !== out) return `written as ${path}, expected ${out}`;
  const back = new Uint8Array(32);
  if (readPath(node, 0, back, 0) !== seq.length || toDigits(back) !== toDigits(key))
    return "not read as it was written";
  return undefined;
}

interface KeyTest {
  readonly seed: string;
  readonly key: string;
  readonly addr: string;
}

function keyCases(): Case[] {
  return readVectorJson<readonly KeyTest[]>("basic-tests", "keyaddrtest.json").map(({ seed, key, addr }) => ({
    id: `keyaddrtest ${seed}`,
    run: () => {
      const address = toDigits(addressOfPrivateKey(bytesOfHex(key)));
      return address === addr ? undefined : `address ${address}, expected ${addr}`;
    },
  }));
}

interface MainNetGenesis {
  readonly genesis_rlp_hex: string;
  readonly genesis_state_root: string;
  readonly genesis_hash: string;
}

function mainNetGenesis(): Case {
  return {
    id: "genesishashestest",
    run: () => {
      const expected = readVectorJson<MainNetGenesis>("basic-tests", "genesishashestest.json");
      const block = decodeBlock(bytesOfHex(expected.genesis_rlp_hex));
      if (!block.ok) return block.error.message;
      const hash = hashOfHeader(block.value.header);
      if (!hash.ok) return hash.error.message;
      const found = [
        toDigits(encodeBlock(block.value)),
        toDigits(block.value.header.stateRoot),
        toDigits(hash.value),
      ];
      const wanted = [expected.genesis_rlp_hex, expected.genesis_state_root, expected.genesis_hash];
      return found.join() === wanted.join() ? undefined : `found ${found.slice(1).join(" ")}`;
    },
  };
}

interface GenesisTest extends Readonly<Record<HeaderField, string>> {
  readonly alloc: Readonly<Record<string, PreAccount & { readonly wei?: string }>>;
  /** RLP of the block. */
  readonly result: string;
}

type HeaderField =
  | "nonce"
  | "timestamp"
  | "parentHash"
  | "extraData"
  | "gasLimit"
  | "difficulty"
  | "mixHash"
  | "coinbase";

function genesisCases(): Case[] {
  const tests = readVectorJson<Record<string, GenesisTest>>("basic-tests", "basic_genesis_tests.json");
  return Object.entries(tests).map(([title, test]) => ({
    id: `basic_genesis_tests ${title}`,
    run: () => checkGenesis(test),
  }));
}

async function checkGenesis(test: GenesisTest): Promise<Failure | undefined> {
  const alloc = Object.entries(test.alloc).map(([address, { wei, ...account }]): [string, PreAccount] => [
    address,
    wei === undefined ? account : { ...account, balance: wei },
  ]);
  const world = await worldOf(Object.fromEntries(alloc));
  const { root } = world.stage(world.overlay().changes(), 1n);
  const header = genesisHeader(test, root);
  const block = toDigits(encodeBlock({ header, transactions: [], ommers: [] }));
  return block === test.result ? undefined : `state root ${toHex(root)}, block ${block}`;
}

function genesisHeader(test: GenesisTest, stateRoot: Header["stateRoot"]): Header {
  const quantity = (name: HeaderField): bigint => (test[name] === "0x" ? 0n : BigInt(test[name]));
  return {
    parentHash: hashFromHex(test.parentHash),
    ommersHash: EMPTY_LIST_HASH,
    coinbase: addressFromHex(test.coinbase),
    stateRoot,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: EMPTY_BLOOM,
    difficulty: quantity("difficulty"),
    number: 0n,
    gasLimit: quantity("gasLimit"),
    gasUsed: 0n,
    timestamp: quantity("timestamp"),
    extraData: bytesOfHex(test.extraData),
    mixHash: hashFromHex(test.mixHash),
    nonce: bytesOfHex(test.nonce),
  };
}
