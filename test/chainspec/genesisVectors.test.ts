import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { ChainSpec } from "../../src/chainspec/chainSpec.ts";
import { parseGenesis, readGenesis } from "../../src/chainspec/genesis.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { hashOfHeader } from "../../src/types/blockHash.ts";
import { decodeExtraData } from "../../src/types/extraData.ts";
import { encodeHeader, type Header } from "../../src/types/header.ts";
import { genesisStateRoot } from "../builders/genesisStateRoot.ts";
import { IS_THOROUGH } from "../thorough.ts";
import { describeWithVectors, readVectorBytes, readVectorJson, vectorPath } from "../vectors.ts";

function specOf(consensus: "ibft2" | "any", ...segments: readonly string[]): ChainSpec {
  const outcome = parseGenesis(readFileSync(vectorPath(...segments), "utf8"), segments.join("/"), {
    consensus,
  });
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.value;
}

function messageOf(consensus: "ibft2" | "any", ...segments: readonly string[]): string {
  const outcome = parseGenesis(readFileSync(vectorPath(...segments), "utf8"), segments.join("/"), {
    consensus,
  });
  return outcome.ok ? "accepted" : outcome.error.message;
}

async function genesisHeader(spec: ChainSpec): Promise<Header> {
  return { ...spec.genesis.header, stateRoot: await genesisStateRoot(spec.genesis.alloc) };
}

function hashText(header: Header): string {
  const hash = hashOfHeader(header);
  return hash.ok ? toHex(hash.value) : hash.error.message;
}

describeWithVectors("genesis files of IBFT 2.0 networks", () => {
  interface Expected {
    readonly file: string;
    readonly chainId: number;
    readonly stateRoot: string;
    readonly genesisHash?: string;
    readonly genesisHeaderRlp?: string;
    readonly validators?: readonly string[];
  }
  const { genesis } = readVectorJson<{ genesis: readonly Expected[] }>("ibft2", "genesis-expected.json");
  const complete = genesis.filter(({ genesisHash }) => genesisHash !== undefined);
  const templates = genesis.filter(({ genesisHash }) => genesisHash === undefined);

  it.each(complete)("$file gives header, hash, state root and validators", async (expected) => {
    const spec = specOf("ibft2", "ibft2", expected.file);
    const header = await genesisHeader(spec);
    expect(spec.chainId).toBe(BigInt(expected.chainId));
    expect(toHex(header.stateRoot)).toBe(expected.stateRoot);
    expect(toHex(encodeHeader(header))).toBe(expected.genesisHeaderRlp);
    expect(hashText(header)).toBe(expected.genesisHash);
    const extra = decodeExtraData(header.extraData);
    expect(extra.ok && extra.value.validators.map(toHex)).toEqual(expected.validators);
  });

  it.each(templates)(
    "$file, a template without extra data, is refused; with other consensus allowed its state root is right",
    async ({ file, stateRoot }) => {
      expect(messageOf("ibft2", "ibft2", file)).toMatch(
        /^Unable to load genesis file\. Invalid extraData in genesis block configuration: '%extraData%' is not hexadecimal bytes \(line \d+, column \d+ of ibft2/,
      );
      const text = readFileSync(vectorPath("ibft2", file), "utf8").replace("%extraData%", "0x");
      const outcome = parseGenesis(text, file, { consensus: "any" });
      expect(outcome.ok && toHex(await genesisStateRoot(outcome.value.genesis.alloc))).toBe(stateRoot);
    },
  );

  it.each([
    "net1",
    "net2",
    "net3",
    "net4",
    "prague-25.4.1/staged",
    "prague-25.4.1/past",
    "prague-25.4.1/zero",
  ])("besu-ibft/%s gives the genesis block that Besu exported", async (network) => {
    const spec = specOf("ibft2", "besu-ibft", network, "genesis.json");
    const bytes = readVectorBytes("besu-ibft", network, "chain.rlp");
    const header = encodeHeader(await genesisHeader(spec));
    // A block is a list whose first item is the header: the exported file begins with a list prefix, then ours.
    const prefixLength = (bytes[0] ?? 0) - 0xf7 + 1;
    expect(toHex(bytes.subarray(prefixLength, prefixLength + header.length))).toBe(toHex(header));
  });

  it("reads the parameters of two recorded networks", () => {
    const net1 = specOf("ibft2", "besu-ibft", "net1", "genesis.json");
    expect(net1.ibft.eras.map(({ parameters }) => parameters.blockRewardWei)).toEqual([100_000_000_000_000n]);
    expect(
      net1.ibft.eras.map(({ parameters }) => toHex(parameters.miningBeneficiary ?? new Uint8Array())),
    ).toEqual(["0x00000000000000000000000000000000000beef1"]);
    const net2 = specOf("ibft2", "besu-ibft", "net2", "genesis.json");
    expect(net2).toMatchObject({ chainId: 7772n, isZeroBaseFee: true });
    expect(net2.ibft).toMatchObject({ epochLength: 5n, requestTimeoutSeconds: 2 });
  });

  it("ignores pragueBlock, as the network's nodes do, and warns of it", () => {
    const file = "bitrock-testnet-7771-pragueblock.json";
    const outcome = readGenesis(readFileSync(vectorPath("ibft2", "genesis", file), "utf8"), file);
    expect(outcome.ok && outcome.value.warnings).toEqual([
      "config.pragueBlock of the genesis file is not a fork known by block number; it is ignored.",
    ]);
    expect(outcome.ok && outcome.value.spec.forks.activations.at(-1)).toEqual({
      fork: "berlin",
      at: { block: 0n },
    });
  });
});

describeWithVectors("genesis files of other chains, read for tests", () => {
  interface Expected {
    readonly file: string;
    readonly stateRoot: string;
    readonly genesisHash: string;
  }
  const { genesis } = readVectorJson<{ genesis: readonly Expected[] }>("besu-core", "genesis-expected.json");
  const isOfUnknownFork = ({ file }: Expected): boolean =>
    /networks\/(experimental|future)\.json$/.test(file);
  const { chains } = readVectorJson<{
    chains: readonly { genesis: string | null; genesisHash: string | null }[];
  }>("chains-expected.json");
  const chainGeneses = new Map(chains.map((chain) => [chain.genesis, chain.genesisHash]));
  chainGeneses.delete(null);

  /** The long run has the one with thousands of accounts. */
  const isQuick = (file: string): boolean => IS_THOROUGH || !file.endsWith("networks/mainnet.json");

  /** Some are in both lists. */
  const headers = new Map<string, Promise<Header>>();
  function headerOf(file: string): Promise<Header> {
    const header = headers.get(file) ?? genesisHeader(specOf("any", file));
    headers.set(file, header);
    return header;
  }

  it.each(genesis.filter((expected) => !isOfUnknownFork(expected) && isQuick(expected.file)))(
    "$file",
    async (expected) => {
      const header = await headerOf(expected.file);
      expect(toHex(header.stateRoot)).toBe(expected.stateRoot);
      expect(hashText(header)).toBe(expected.genesisHash);
    },
  );

  it.each([...chainGeneses].filter(([file]) => isQuick(file ?? "")))("%s", async (file, hash) => {
    expect(hashText(await headerOf(file ?? ""))).toBe(hash);
  });

  it.each([
    ["besu-core/networks/future.json", "config.futureEipsTime activates the fork 'futureEips' at time '0'"],
    [
      "besu-core/networks/experimental.json",
      "config.experimentalEipsTime activates the fork 'experimentalEips' at time '0'",
    ],
    ["besu-core/config/all_forks.json", "config.futureEipsTime activates the fork 'futureEips' at time '98'"],
  ])("%s is refused for a fork newer than ours", (file, message) => {
    expect(messageOf("any", file)).toContain(message);
  });

  it.each([
    [
      "besu-core/networks/dev.json",
      "config.ethash: proof of work is not supported. An ibft2 section is expected",
    ],
    ["besu-core/networks/mainnet.json", "config.ethash: proof of work is not supported"],
    ["besu-core/chainimport/clique/genesis.json", "config.clique: Clique is not supported"],
    ["besu-core/genesis/genesis1.json", "config has no supported consensus: an ibft2 section is expected"],
  ])("%s is refused where IBFT 2.0 is expected", (file, message) => {
    expect(messageOf("ibft2", file)).toContain(message);
  });
});

describeWithVectors("configuration sections", () => {
  /** These files have the contents of `config` only. */
  function parseConfig(file: string) {
    const config = readFileSync(vectorPath("besu-core", "config", file), "utf8");
    const text = `{"config":${config},"gasLimit":"0x1","difficulty":"0x1","extraData":"${EXTRA_DATA}"}`;
    return parseGenesis(text, file);
  }
  const EXTRA_DATA = `0xf83ea0${"00".repeat(32)}d594${"11".repeat(20)}808400000000c0`;

  it.each(["valid_config.json", "valid_config_with_custom_forks.json"])(
    "%s gives eras with validators",
    (file) => {
      const outcome = parseConfig(file);
      if (!outcome.ok) throw new Error(outcome.error.message);
      const { eras, requestTimeoutSeconds } = outcome.value.ibft;
      expect(requestTimeoutSeconds).toBe(10);
      expect(eras.map(({ fromBlock, validators }) => [fromBlock, validators?.map(toHex)])).toEqual([
        [0n, undefined],
        [20n, ["0x1234567890123456789012345678901234567890", "0x9876543210987654321098765432109876543210"]],
        [25n, ["0x1234567890123456789012345678901234567890"]],
      ]);
      const isCustom = file.includes("custom");
      for (const { parameters } of eras) {
        expect(parameters.blockPeriodSeconds).toBe(2);
        expect(parameters.blockRewardWei).toBe(isCustom ? 0x15n : 0n);
        expect(parameters.miningBeneficiary && toHex(parameters.miningBeneficiary)).toBe(
          isCustom ? "0x1234567890123456789012345678901234567890" : undefined,
        );
      }
    },
  );

  it.each([
    [
      "valid_config_with_etc_forks.json",
      "config.classicForkBlock: the rules of Ethereum Classic are not supported",
    ],
    [
      "valid_config_with_migration_to_qbft.json",
      "config.qbft: QBFT is not supported, nor is a migration to it",
    ],
    ["valid_config_with_unexpected_forks.json", "config.classicForkBlock: the rules of Ethereum Classic"],
  ])("%s is refused: this node could not follow such a chain", (file, message) => {
    const outcome = parseConfig(file);
    expect(!outcome.ok && outcome.error.message).toContain(message);
  });
});
