import type { ForkActivation, ForkName, ForkSchedule } from "./forks.ts";
import type { GenesisSection } from "./genesisSection.ts";

/** Keys of `config` that activate a fork at a block number, oldest fork first. */
const BLOCK_KEYS: readonly (readonly [key: string, fork: ForkName])[] = [
  ["homesteadBlock", "homestead"],
  ["eip150Block", "tangerineWhistle"],
  ["eip158Block", "spuriousDragon"],
  ["byzantiumBlock", "byzantium"],
  ["constantinopleBlock", "constantinople"],
  ["petersburgBlock", "petersburg"],
  ["constantinopleFixBlock", "petersburg"],
  ["istanbulBlock", "istanbul"],
  ["muirGlacierBlock", "muirGlacier"],
  ["berlinBlock", "berlin"],
  ["londonBlock", "london"],
  ["arrowGlacierBlock", "arrowGlacier"],
  ["grayGlacierBlock", "grayGlacier"],
];

/** Keys that activate a fork at a timestamp in seconds. */
const TIME_KEYS: readonly (readonly [key: string, fork: ForkName])[] = [
  ["shanghaiTime", "shanghai"],
  ["cancunTime", "cancun"],
  ["pragueTime", "prague"],
];

/** Each fork's key in a genesis file; the first if there are two. */
export const FORK_KEYS: ReadonlyMap<ForkName, string> = new Map(
  [...BLOCK_KEYS, ...TIME_KEYS].reverse().map(([key, fork]) => [fork, key]),
);

const KNOWN_KEYS: ReadonlySet<string> = new Set(
  [...BLOCK_KEYS, ...TIME_KEYS].map(([key]) => key.toLowerCase()),
);

/** Common keys without an effect of their own. */
const KEYS_WITHOUT_EFFECT: ReadonlySet<string> = new Set(["eip155block", "daoforkblock"]);

/**
 * The forks in `config`; an active fork includes all earlier ones. Numbers and times must not decrease, because Besu would
 * then return to older rules. An unknown fork by time is an error, since this node could not follow the chain past it.
 */
export function readForks(config: GenesisSection): ForkSchedule {
  if (config.has("petersburgBlock") && config.has("constantinopleFixBlock")) {
    throw config.error(
      "constantinopleFixBlock",
      "Genesis files cannot specify both petersburgBlock and constantinopleFixBlock",
    );
  }
  refuseUnknownTimes(config);
  const byBlock = readActivations(config, BLOCK_KEYS, (block) => ({ block }));
  const byTime = readActivations(config, TIME_KEYS, (time) => ({ time }));
  return { activations: [{ fork: "frontier", at: { block: 0n } }, ...byBlock, ...byTime] };
}

/** Keys that look like forks but are not known, for a warning. */
export function ignoredForkKeys(config: GenesisSection): readonly string[] {
  return config
    .keys()
    .filter((key) => /block$/i.test(key) && config.isSet(key))
    .filter((key) => !KNOWN_KEYS.has(key.toLowerCase()) && !KEYS_WITHOUT_EFFECT.has(key.toLowerCase()));
}

function readActivations(
  config: GenesisSection,
  keys: readonly (readonly [string, ForkName])[],
  at: (value: bigint) => ForkActivation["at"],
): ForkActivation[] {
  const activations: ForkActivation[] = [];
  let latest: { key: string; value: bigint } | undefined;
  for (const [key, fork] of keys) {
    const value = config.wholeNumber(key, { max: MAX_LONG, mayBeDouble: true });
    if (value === undefined) continue;
    if (latest !== undefined && value < latest.value) {
      throw config.error(
        key,
        `config.${key} (${value}) comes before config.${latest.key} (${latest.value}), though it is the later fork`,
      );
    }
    latest = { key, value };
    activations.push({ fork, at: at(value) });
  }
  return activations;
}

function refuseUnknownTimes(config: GenesisSection): void {
  for (const key of config.keys()) {
    if (!/time$/i.test(key) || KNOWN_KEYS.has(key.toLowerCase()) || !config.isSet(key)) continue;
    throw config.error(
      key,
      `config.${key} activates the fork '${key.slice(0, -"time".length)}' at time ${config.valueText(key)}, which this version does not know; the newest fork that it knows is Prague (pragueTime)`,
    );
  }
}

const MAX_LONG = 2n ** 63n - 1n;
