import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { RLP } from "@ethereumjs/rlp";
import { describe, expect, it } from "vitest";
import { deriveGenesisBlock } from "../../src/chain/genesisBlock.ts";
import type { ChainSpec } from "../../src/chainspec/chainSpec.ts";
import { readGenesis } from "../../src/chainspec/genesis.ts";
import { readSettings } from "../../src/config/readSettings.ts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { genesisStateRoot } from "../builders/genesisStateRoot.ts";
import { describeWithVectors, vectorPath } from "../vectors.ts";

const ROOT = resolve(import.meta.dirname, "..", "..");

/** One genesis block for both networks (vectors/README.md, section 10). */
const HASH = "0x7036f3856cfd07b029bea3c6dc22f06eb88db80a72f611cbb7c410ed938219b5";
const STATE_ROOT = "0x5d355935790fedcbd03b32d98b52f62733080ca891e1fa3f39e722519563d5d3";

const NETWORKS = [
  { name: "mainnet", chainId: 7171n },
  { name: "testnet", chainId: 7771n },
] as const;

describe.each(NETWORKS)("the network $name", ({ name, chainId }) => {
  const spec = specIn(resolve(ROOT, "genesis", `${name}.json`));

  it("has the known genesis block", () => {
    const block = deriveGenesisBlock(spec);
    expect(spec.chainId).toBe(chainId);
    expect(toHex(block.header.stateRoot)).toBe(STATE_ROOT);
    expect(toHex(block.hash)).toBe(HASH);
  });

  it("has the same one by the library's trie and RLP", async () => {
    const stateRoot = await genesisStateRoot(spec.genesis.alloc);
    expect(toHex(stateRoot)).toBe(STATE_ROOT);
    expect(toHex(keccak256(RLP.encode(headerFields(name, stateRoot))))).toBe(HASH);
  });
});

describeWithVectors("the networks' published genesis files", () => {
  it.each(NETWORKS)("agree with our file on $name", ({ name, chainId }) => {
    const ours = specIn(resolve(ROOT, "genesis", `${name}.json`));
    const published = specIn(vectorPath("ibft2", "genesis", `bitrock-${name}-${chainId}.json`));
    expect(ours).toEqual(published);
  });
});

describe("the example files", () => {
  it.each([
    ["mainnet", 7171n],
    ["testnet", 7771n],
    ["validator", 7171n],
    ["dev", 1337n],
  ])("config/%s.toml configures a node of chain %s without a warning", (name, chainId) => {
    const settings = readSettings({
      raw: [{ name: "config-file", text: `config/${name}.toml`, source: { kind: "commandLine" } }],
      environment: {},
      workingDirectory: ROOT,
      isTerminal: false,
    });
    if (!settings.ok) throw new Error(settings.error.message);
    expect(settings.value.chainSpec.chainId).toBe(chainId);
    expect(settings.value.warnings).toEqual([]);
    // Groups that can change the node are served to local callers only.
    const groups = settings.value.http?.groups ?? [];
    if (name === "validator") expect(groups).toEqual(expect.arrayContaining(["IBFT", "ADMIN"]));
    if (groups.includes("ADMIN")) expect(settings.value.http?.host).toBe("127.0.0.1");
  });
});

function specIn(path: string): ChainSpec {
  const reading = readGenesis(readFileSync(path, "utf8"), path);
  if (!reading.ok) throw new Error(reading.error.message);
  return reading.value.spec;
}

/** Read from the JSON, without our own genesis reader. */
function headerFields(name: string, stateRoot: Uint8Array): (string | Uint8Array | number)[] {
  const genesis = JSON.parse(readFileSync(resolve(ROOT, "genesis", `${name}.json`), "utf8"));
  const emptyTrie = keccak256(RLP.encode(""));
  return [
    new Uint8Array(32),
    keccak256(RLP.encode([])),
    genesis.coinbase,
    stateRoot,
    emptyTrie,
    emptyTrie,
    new Uint8Array(256),
    Number(genesis.difficulty),
    0,
    Number(genesis.gasLimit),
    0,
    Number(genesis.timestamp),
    genesis.extraData,
    genesis.mixHash,
    new Uint8Array(8),
  ];
}
