import { fail, ok, type Result } from "../primitives/result.ts";
import { decodeExtraData } from "../types/extraData.ts";
import type { ChainSpec } from "./chainSpec.ts";
import {
  DEFAULT_BASE_FEE_PER_GAS,
  octalWarnings,
  readAlloc,
  readBaseFee,
  readGenesisHeader,
} from "./genesisContents.ts";
import { ignoredForkKeys, readForks } from "./genesisForks.ts";
import { ibftWarnings, readIbft } from "./genesisIbft.ts";
import { GenesisError, GenesisSection } from "./genesisSection.ts";
import { type Json, type JsonMember, type JsonRest, parseLeadingJson } from "./json.ts";

/**
 * Reads Besu's genesis JSON (options.md#genesis-file, ibft2.md#parameters): keys in any case, comments, decimal or
 * hexadecimal numbers of any size, unknown keys ignored. Refuses what this node cannot follow, with key, value and
 * position: another consensus, forks after Prague, forks out of order.
 *
 *     text ── json.ts ── genesisSection.ts ─┬─ genesisForks.ts ── ForkSchedule
 *                                           ├─ genesisIbft.ts ─── IbftSchedule
 *                                           └─ genesisBlock.ts ── header, alloc
 */
export interface GenesisReading {
  readonly spec: ChainSpec;
  /** Settings that are allowed but probably a mistake. */
  readonly warnings: readonly string[];
}

interface GenesisExpectations {
  /** "any" also accepts chains with another consensus, for conformance tests. */
  readonly consensus: "ibft2" | "any";
  /**
   * Texts that replace values of the section `config`, by key in lower case; an empty text removes the key
   * (--override-genesis-config).
   */
  readonly overrides?: ReadonlyMap<string, string>;
  /** This node's minimum gas price at its start: the base fee of its blocks when `config.fixedBaseFee` is true. */
  readonly minGasPriceWei?: bigint;
}

/** Like readGenesis, without warnings. */
export function parseGenesis(
  text: string,
  source: string,
  expectations?: GenesisExpectations,
): Result<ChainSpec, "invalidGenesis"> {
  const reading = readGenesis(text, source, expectations);
  return reading.ok ? ok(reading.value.spec) : reading;
}

/** `source` names the file in messages. */
export function readGenesis(
  text: string,
  source: string,
  expectations: GenesisExpectations = { consensus: "ibft2" },
): Result<GenesisReading, "invalidGenesis"> {
  const json = parseLeadingJson(text);
  if (!json.ok) return invalid(`${json.error.message} of ${source}`);
  const { value, rest } = json.value;
  try {
    const root = new GenesisSection(text, withOverrides(value, expectations.overrides ?? new Map()));
    const config = root.section("config") ?? new GenesisSection("{}", { kind: "object", at: 0, members: [] });
    if (expectations.consensus === "ibft2") refuseOtherConsensus(config);
    const spec = readSpec(root, config, expectations.minGasPriceWei ?? DEFAULT_MIN_GAS_PRICE_WEI);
    const warnings = expectations.consensus === "ibft2" ? checkIbft(root, config, spec) : [];
    return ok({ spec, warnings: rest === undefined ? warnings : [...warnings, afterItsEnd(rest)] });
  } catch (error) {
    if (!(error instanceof GenesisError)) throw error;
    return invalid(`${error.message} (${error.place === undefined ? "" : `${error.place} of `}${source})`);
  }
}

const DEFAULT_CONTRACT_SIZE_LIMIT_BYTES = 24_576n;
const DEFAULT_EVM_STACK_SIZE = 1024n;
/** Besu's default for --min-gas-price. */
const DEFAULT_MIN_GAS_PRICE_WEI = 1000n;
/**
 * The limit is 2 MB for each frame, so that 1,025 frames fit into the EVM's address space. No known chain has more than
 * 1,024 words.
 */
const LARGEST_STACK_SIZE = 65_536;
const MAX_INT = 2n ** 31n - 1n;
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n } as const;

/** Sections that choose another consensus even beside ibft2, with the reason for refusing them. */
const OTHER_CONSENSUS: readonly (readonly [key: string, reason: string])[] = [
  ["ethash", "proof of work is not supported"],
  ["qbft", "QBFT is not supported, nor is a migration to it"],
];
/** Sections that choose another consensus where there is no ibft2. */
const LESSER_CONSENSUS: readonly (readonly [key: string, reason: string])[] = [
  ["clique", "Clique is not supported"],
  ["ibft", "IBFT1 (legacy) is no longer supported. Consider using IBFT2"],
];

/** Rules of other chains that an IBFT 2.0 network does not have; ignoring them would change results silently. */
const UNSUPPORTED_RULES: readonly (readonly [key: string, reason: string])[] = [
  ["terminalTotalDifficulty", "a move to proof of stake is not supported"],
  ["mergeNetSplitBlock", "a move to proof of stake is not supported"],
  ...[
    "classicForkBlock",
    "ecip1015Block",
    "dieHardBlock",
    "gothamBlock",
    "ecip1041Block",
    "atlantisBlock",
    "aghartaBlock",
    "phoenixBlock",
    "thanosBlock",
    "magnetoBlock",
    "mystiqueBlock",
    "spiralBlock",
  ].map((key) => [key, "the rules of Ethereum Classic are not supported"] as const),
];

function readSpec(root: GenesisSection, config: GenesisSection, minGasPriceWei: bigint): ChainSpec {
  const forks = readForks(config);
  const initialBaseFeePerGas = readBaseFee(root) ?? DEFAULT_BASE_FEE_PER_GAS;
  const isZeroBaseFee = config.flag("zeroBaseFee") ?? false;
  const isFixedBaseFee = !isZeroBaseFee && (config.flag("fixedBaseFee") ?? false);
  const curve = config.string("ecCurve");
  if (curve !== undefined && curve !== "secp256k1") {
    throw config.error("ecCurve", `config.ecCurve must be 'secp256k1' but was '${curve}'`);
  }
  const discovery = config.section("discovery");
  const dnsList = discovery?.string("dns");
  return {
    chainId: config.wholeNumber("chainId", { max: 2n ** 256n - 1n }) ?? 1n,
    forks,
    ibft: readIbft(config),
    genesis: { header: readGenesisHeader(root, forks), alloc: readAlloc(root) },
    contractSizeLimitBytes: Number(
      config.wholeNumber("contractSizeLimit", { max: MAX_INT, mayBeDouble: true }) ??
        DEFAULT_CONTRACT_SIZE_LIMIT_BYTES,
    ),
    evmStackSize: readStackSize(config),
    isZeroBaseFee,
    ...(isFixedBaseFee && { fixedBaseFeePerGas: minGasPriceWei }),
    initialBaseFeePerGas,
    bootnodes: discovery?.texts("bootnodes") ?? [],
    ...(dnsList !== undefined && { dnsList }),
  };
}

function readStackSize(config: GenesisSection): number {
  const words = Number(
    config.wholeNumber("evmStackSize", { min: 1n, max: MAX_INT, mayBeDouble: true }) ??
      DEFAULT_EVM_STACK_SIZE,
  );
  if (words <= LARGEST_STACK_SIZE) return words;
  throw config.error(
    "evmStackSize",
    `config.evmStackSize of at most ${LARGEST_STACK_SIZE} words is supported but was '${words}': 1,025 stacks have to fit into the EVM's memory`,
  );
}

function afterItsEnd({ place, character }: JsonRest): string {
  return `The genesis file goes on after its end, from ${place} on: '${character}' and all that follows is ignored.`;
}

function refuseOtherConsensus(config: GenesisSection): void {
  const refused = config.has("ibft2") ? OTHER_CONSENSUS : [...OTHER_CONSENSUS, ...LESSER_CONSENSUS];
  for (const [key, reason] of refused) {
    if (config.has(key)) throw config.error(key, `config.${key}: ${reason}. An ibft2 section is expected`);
  }
  if (!config.has("ibft2")) {
    throw config.error("ibft2", "config has no supported consensus: an ibft2 section is expected");
  }
  for (const [key, reason] of UNSUPPORTED_RULES) {
    if (config.isSet(key)) throw config.error(key, `config.${key}: ${reason} on an IBFT 2.0 network`);
  }
  if ((config.wholeNumber("daoForkBlock", { ...INT64, mayBeDouble: true }) ?? 0n) > 0n) {
    throw config.error(
      "daoForkBlock",
      "config.daoForkBlock: the DAO fork is not supported on an IBFT 2.0 network; only 0 or less, for none, is",
    );
  }
}

/** Checks that apply to IBFT 2.0 chains only; returns the warnings. */
function checkIbft(root: GenesisSection, config: GenesisSection, spec: ChainSpec): readonly string[] {
  const extra = decodeExtraData(spec.genesis.header.extraData);
  if (!extra.ok) {
    throw root.error("extraData", `Invalid extraData in genesis block configuration: ${extra.error.message}`);
  }
  const warnings: string[] = [];
  if (extra.value.validators.length === 0) {
    warnings.push("Genesis block contains no signers - chain will not progress.");
  }
  for (const key of ignoredForkKeys(config)) {
    warnings.push(`config.${key} of the genesis file is not a fork known by block number; it is ignored.`);
  }
  for (const [key] of LESSER_CONSENSUS) {
    if (config.has(key))
      warnings.push(`config.${key} of the genesis file is ignored: config.ibft2 decides the consensus.`);
  }
  warnings.push(...octalWarnings(root), ...ibftWarnings(root, config));
  const { requestTimeoutSeconds, eras } = spec.ibft;
  const slowest = Math.max(...eras.map(({ parameters }) => parameters.blockPeriodSeconds));
  if (requestTimeoutSeconds <= slowest) {
    warnings.push(
      `config.ibft2.requesttimeoutseconds (${requestTimeoutSeconds}) leaves no time after the block period (${slowest}); use at least twice the period.`,
    );
  }
  if (eras.length > 1 && spec.forks.activations.some(({ at }) => "time" in at)) {
    warnings.push(
      "The genesis file combines forks by time with transitions, which other nodes may apply at different blocks.",
    );
  }
  return warnings;
}

/** The document with values of its section `config` replaced; other values keep their offsets in the text. */
function withOverrides(root: Json, overrides: ReadonlyMap<string, string>): Json {
  if (root.kind !== "object" || overrides.size === 0) return root;
  const isConfig = ({ key }: JsonMember): boolean => key.toLowerCase() === "config";
  return {
    ...root,
    members: root.members.map((member) => {
      const config = member.value;
      if (!isConfig(member) || config.kind !== "object") return member;
      const kept = config.members.filter(({ key }) => !overrides.has(key.toLowerCase()));
      const replaced = [...overrides]
        .filter(([, text]) => text !== "")
        .map(([key, text]): JsonMember => ({ key, at: config.at, value: jsonOf(text, config.at) }));
      return { ...member, value: { ...config, members: [...kept, ...replaced] } };
    }),
  };
}

function jsonOf(text: string, at: number): Json {
  return /^(true|false)$/i.test(text)
    ? { kind: "boolean", at, value: text.toLowerCase() === "true" }
    : { kind: "string", at, text };
}

function invalid(cause: string): Result<never, "invalidGenesis"> {
  return fail("caller", "invalidGenesis", `Unable to load genesis file. ${cause}`);
}
