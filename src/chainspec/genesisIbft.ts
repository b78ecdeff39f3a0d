import { type Address, asAddress } from "../primitives/address.ts";
import { parseHex } from "../primitives/hex.ts";
import type { GenesisSection } from "./genesisSection.ts";
import type { IbftEra, IbftParameters, IbftSchedule } from "./ibftParameters.ts";

/** Reads the `ibft2` section and its transitions (ibft2.md#parameters); an absent section gives the defaults. */
export function readIbft(config: GenesisSection): IbftSchedule {
  const section = config.section("ibft2");
  const limit = (key: string, byDefault: number): number =>
    Number(section?.wholeNumber(key, { max: MAX_INT, mayBeDouble: true }) ?? byDefault);
  const epochLength =
    section?.wholeNumber("epochLength", { min: MIN_LONG, max: MAX_LONG, mayBeDouble: true }) ?? 30_000n;
  if (section !== undefined && epochLength <= 0n) {
    throw section.error("epochLength", "Epoch length in config must be greater than zero");
  }
  const requestTimeout =
    section?.wholeNumber("requestTimeoutSeconds", { min: 1n, max: MAX_INT, mayBeDouble: true }) ?? 1n;
  const first: IbftEra = { fromBlock: 0n, parameters: readParameters(section, DEFAULT_PARAMETERS) };
  return {
    epochLength,
    requestTimeoutSeconds: Number(requestTimeout),
    gossipedHistoryLimit: limit("gossipedHistoryLimit", 1000),
    messageQueueLimit: limit("messageQueueLimit", 1000),
    duplicateMessageLimit: limit("duplicateMessageLimit", 100),
    futureMessagesLimit: limit("futureMessagesLimit", 1000),
    futureMessagesMaxDistance: limit("futureMessagesMaxDistance", 10),
    eras: readEras(first, config.section("transitions")?.sections("ibft2") ?? []),
  };
}

/**
 * Warns of what looks like an IBFT 2.0 setting but is none: transitions in the wrong place or under another name, and
 * members that nothing reads. Besu ignores them silently, and the network runs without what was meant.
 */
export function ibftWarnings(root: GenesisSection, config: GenesisSection): readonly string[] {
  const transitions = config.section("transitions");
  const misplaced = [
    ...[root, config.section("ibft2")].flatMap((section) =>
      (section?.keys() ?? []).filter(isLikeTransitions).map((key) => section?.pathOf(key) ?? key),
    ),
    ...config
      .keys()
      .filter((key) => isLikeTransitions(key) && !isSame(key, "transitions"))
      .map((key) => config.pathOf(key)),
    ...(transitions?.keys() ?? [])
      .filter((key) => !["ibft2", "qbft", "clique"].some((known) => isSame(key, known)))
      .map((key) => transitions?.pathOf(key) ?? key),
  ];
  const unknown = [
    ...unknownKeys(config.section("ibft2"), [...PARAMETER_KEYS, ...SECTION_KEYS]),
    ...(transitions?.sections("ibft2") ?? []).flatMap((section) =>
      unknownKeys(section, [...PARAMETER_KEYS, "block", "validators"]),
    ),
  ];
  const repeated = [root, config, config.section("ibft2")].flatMap((section) =>
    (section?.repeatedKeys() ?? []).map((key) => section?.pathOf(key) ?? key),
  );
  return [
    ...repeated.map((path) => `${path} of the genesis file occurs twice; the later one is used.`),
    ...misplaced.map(
      (path) =>
        `${path} of the genesis file has no effect: transitions are only read from config.transitions.ibft2.`,
    ),
    ...unknown
      .filter((path) => !misplaced.includes(path))
      .map((path) => `${path} of the genesis file is not an IBFT 2.0 setting; it is ignored.`),
  ];
}

function unknownKeys(section: GenesisSection | undefined, known: readonly string[]): readonly string[] {
  if (section === undefined) return [];
  return section
    .keys()
    .filter((key) => !known.some((each) => isSame(key, each)))
    .map((key) => section.pathOf(key));
}

function isLikeTransitions(key: string): boolean {
  return /^trans/i.test(key);
}

function isSame(key: string, other: string): boolean {
  return key.toLowerCase() === other.toLowerCase();
}

/** Keys that transitions may change, then keys that only the section `ibft2` has. */
const PARAMETER_KEYS = ["blockPeriodSeconds", "blockReward", "miningBeneficiary"];
const SECTION_KEYS = [
  "epochLength",
  "requestTimeoutSeconds",
  "gossipedHistoryLimit",
  "messageQueueLimit",
  "duplicateMessageLimit",
  "futureMessagesLimit",
  "futureMessagesMaxDistance",
];

const DEFAULT_PARAMETERS: IbftParameters = { blockPeriodSeconds: 1, blockRewardWei: 0n };
const MAX_INT = 2n ** 31n - 1n;
const MAX_LONG = 2n ** 63n - 1n;
const MIN_LONG = -(2n ** 63n);
const MAX_WEI = 2n ** 256n - 1n;

/** Each transition inherits the settings before it and overrides those that it names. */
function readEras(first: IbftEra, transitions: readonly GenesisSection[]): readonly IbftEra[] {
  const starts = transitions.map((section) => ({ section, fromBlock: readStart(section) }));
  starts.sort((a, b) => (a.fromBlock < b.fromBlock ? -1 : a.fromBlock > b.fromBlock ? 1 : 0));
  const eras: IbftEra[] = [first];
  for (const { section, fromBlock } of starts) {
    const before = eras.at(-1) ?? first;
    if (before.fromBlock === fromBlock) {
      throw section.error("block", "Duplicate transitions cannot be created for the same block");
    }
    const validators = readValidators(section);
    eras.push({
      fromBlock,
      parameters: readParameters(section, before.parameters),
      ...(validators !== undefined && { validators }),
    });
  }
  return eras;
}

function readStart(section: GenesisSection): bigint {
  const fromBlock = section.wholeNumber("block", { max: MAX_LONG, mayBeDouble: true });
  if (fromBlock === undefined)
    throw section.error("block", "A transition needs the block from which it applies (block)");
  if (fromBlock === 0n) throw section.error("block", "Transition cannot be created for genesis block");
  return fromBlock;
}

function readParameters(section: GenesisSection | undefined, before: IbftParameters): IbftParameters {
  if (section === undefined) return before;
  const period = section.wholeNumber("blockPeriodSeconds", { min: 1n, max: MAX_INT });
  const reward = section.wholeNumber("blockReward", { min: -MAX_WEI, max: MAX_WEI, mayBeEmpty: true });
  if (reward !== undefined && reward < 0n) {
    throw section.error("blockReward", "Bft Block reward in config cannot be negative");
  }
  const miningBeneficiary = section.has("miningBeneficiary")
    ? readBeneficiary(section)
    : before.miningBeneficiary;
  return {
    blockPeriodSeconds: period === undefined ? before.blockPeriodSeconds : Number(period),
    blockRewardWei: reward ?? before.blockRewardWei,
    ...(miningBeneficiary !== undefined && { miningBeneficiary }),
  };
}

/** A blank text means none: rewards go to the proposer. */
function readBeneficiary(section: GenesisSection): Address | undefined {
  const text = section.string("miningBeneficiary")?.trim() ?? "";
  return text === "" ? undefined : strictAddress(section, "miningBeneficiary", text);
}

function readValidators(section: GenesisSection): readonly Address[] | undefined {
  const texts = section.texts("validators");
  if (texts?.length === 0)
    throw section.error("validators", "A transition's validators cannot be an empty list");
  return texts?.map((text) => strictAddress(section, "validators", text));
}

function strictAddress(section: GenesisSection, key: string, text: string): Address {
  const bytes = parseHex(text);
  if (bytes?.length !== 20)
    throw section.error(
      key,
      `${section.pathOf(key)} must be 20 bytes of hexadecimal digits but was '${text}'`,
    );
  return asAddress(bytes);
}
