import type { ChainSpec, GenesisBlock } from "../../../src/chainspec/chainSpec.ts";
import { type ForkActivation, forkAt, isAtLeast } from "../../../src/chainspec/forks.ts";
import { parseGenesis } from "../../../src/chainspec/genesis.ts";
import type { Header } from "../../../src/types/header.ts";
import { forkOfVector } from "../suites/vectorForks.ts";

/** The rules of a chain under another consensus: ethash, without a check of its proofs, then proof of stake. */
export interface ForeignRules {
  /** Its IBFT schedule is not used. */
  readonly spec: ChainSpec;
  readonly daoForkBlock?: bigint;
  /** Proof of stake begins after the block whose total difficulty reaches this (EIP-3675). */
  readonly terminalTotalDifficulty?: bigint;
  /** A private chain may have a constant difficulty. */
  readonly fixedDifficulty?: bigint;
  /** Under Clique there are no block rewards. Its seals and signer turns are not checked. */
  readonly isClique?: boolean;
}

/** The rules in a genesis file of Besu or go-ethereum. */
export function rulesOfGenesis(text: string, source: string): ForeignRules {
  const parsed = parseGenesis(text, source, { consensus: "any" });
  if (!parsed.ok) throw new Error(parsed.error.message);
  const { config } = JSON.parse(text) as { readonly config: GenesisConfig };
  const { daoForkBlock, terminalTotalDifficulty, ethash } = config;
  return {
    spec: parsed.value,
    ...(daoForkBlock !== undefined && { daoForkBlock: BigInt(daoForkBlock) }),
    ...(terminalTotalDifficulty !== undefined && {
      terminalTotalDifficulty: BigInt(terminalTotalDifficulty),
    }),
    ...(config.clique !== undefined && { isClique: true, fixedDifficulty: 1n }),
    ...(ethash?.fixeddifficulty !== undefined && { fixedDifficulty: BigInt(ethash.fixeddifficulty) }),
  };
}

/** Members that our own genesis parser does not use. */
interface GenesisConfig {
  readonly daoForkBlock?: number;
  readonly terminalTotalDifficulty?: number | string;
  readonly clique?: object;
  readonly ethash?: { readonly fixeddifficulty?: number };
}

/** The rules of a blockchain test by its network, such as "London" or "BerlinToLondonAt5". */
export function rulesOfNetwork(network: string, genesis: GenesisBlock): ForeignRules {
  const [, before = network, after, unit, position = ""] = TRANSITION.exec(network) ?? [];
  const activations: ForkActivation[] = [
    { fork: "frontier", at: { block: 0n } },
    { fork: forkOfVector(before), at: { block: 0n } },
  ];
  const spec = { ...BARE_SPEC, forks: { activations }, genesis };
  if (unit === "Diff") return { spec, terminalTotalDifficulty: BigInt(`0x${position}`) };
  const number = BigInt(position.replace("k", "000"));
  if (after === "Dao") return { spec, daoForkBlock: number };
  if (after !== undefined)
    activations.push({
      fork: forkOfVector(after),
      at: unit === "Time" ? { time: number } : { block: number },
    });
  return MERGED.has(before) ? { spec, terminalTotalDifficulty: 0n } : { spec };
}

/** The position is a block in decimal, a time such as 15k, or a total difficulty in hexadecimal. */
const TRANSITION = /^([A-Za-z0-9]+?)To([A-Za-z0-9]+)At(Diff|Time)?([0-9A-Fk]+)$/;

/** Proof of stake never ends once it has begun; at the latest it begins with Shanghai. */
export function isProofOfStake(
  { spec, terminalTotalDifficulty }: ForeignRules,
  { number, timestamp }: Pick<Header, "number" | "timestamp">,
  parentTotalDifficulty: bigint,
): boolean {
  if (terminalTotalDifficulty !== undefined && parentTotalDifficulty >= terminalTotalDifficulty) return true;
  return isAtLeast(forkAt(spec.forks, number, timestamp), "shanghai");
}

const MERGED: ReadonlySet<string> = new Set(["Paris", "Shanghai", "Cancun", "Prague"]);

/** Main net's parameters, under which the tests run. */
const BARE_SPEC: Omit<ChainSpec, "forks" | "genesis"> = {
  chainId: 1n,
  ibft: {
    epochLength: 30_000n,
    requestTimeoutSeconds: 1,
    gossipedHistoryLimit: 0,
    messageQueueLimit: 0,
    duplicateMessageLimit: 0,
    futureMessagesLimit: 0,
    futureMessagesMaxDistance: 0,
    eras: [{ fromBlock: 0n, parameters: { blockPeriodSeconds: 1, blockRewardWei: 0n } }],
  },
  contractSizeLimitBytes: 24_576,
  evmStackSize: 1024,
  isZeroBaseFee: false,
  initialBaseFeePerGas: 1_000_000_000n,
  bootnodes: [],
};
