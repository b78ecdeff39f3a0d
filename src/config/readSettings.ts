import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { isAtLeast, newestFork } from "../chainspec/forks.ts";
import { type GenesisReading, readGenesis } from "../chainspec/genesis.ts";
import { jsonTextOf } from "../chainspec/json.ts";
import type { LoggingSettings } from "../observability/logger.ts";
import { readNamedBytes } from "../primitives/boundedFile.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { vanityFromBytes } from "../types/extraData.ts";
import { clientVersion } from "./clientVersion.ts";
import { readConfigFile } from "./configFile.ts";
import { checkAgainstChain, checkOptions, keyProblems } from "./crossChecks.ts";
import { developmentSettings, offering } from "./developmentSettings.ts";
import {
  DEV_CANCUN_GENESIS_FILE,
  DEV_GENESIS_FILE,
  DEV_PRESET,
  DEV_VALIDATOR_KEY,
  OPTIONS_AGAINST_PRESET,
} from "./devNetwork.ts";
import { report } from "./diagnostics.ts";
import { type Environment, readEnvironment } from "./environment.ts";
import { readEthstats } from "./ethstatsSettings.ts";
import { loggingChoices } from "./loggingSettings.ts";
import { findOption, OPTIONS, type OptionValues } from "./options.ts";
import { peerSettings } from "./peerSettings.ts";
import { checkPermissions, permissionSettings } from "./permissionSettings.ts";
import { poolNotes, poolSettings } from "./poolSettings.ts";
import { findRaw, type ResolvedOptions, resolveOptions } from "./precedence.ts";
import { givenByProfile } from "./profiles.ts";
import type { RawOption, UnknownOption } from "./rawOption.ts";
import {
  answerSettings,
  explorerSettings,
  graphQlSettings,
  httpSettings,
  ipcSettings,
  metricsSettings,
  readServerFiles,
  type ServerFiles,
  webSocketSettings,
} from "./serverSettings.ts";
import type { NetworkGenesis, NodeKeySettings, Settings } from "./settings.ts";
import { signerSettings } from "./signerSettings.ts";
import { readStaticNodes } from "./staticNodes.ts";
import { storageSettings } from "./storageSettings.ts";
import { checkUnknown } from "./unknownOptions.ts";

/** The inputs of the configuration, besides the files that they name. */
export interface ConfigSources {
  /** Options of the command line. */
  readonly raw: readonly RawOption[];
  /** Options of the command line that only other releases know. */
  readonly unknown?: readonly UnknownOption[];
  readonly environment: Environment;
  /** Relative paths start here, including those inside a configuration file, as in Besu. */
  readonly workingDirectory: string;
  /** True when log lines go to a terminal. */
  readonly isTerminal: boolean;
}

/** The settings, and where they come from, so that they can be read again while the node runs. */
export interface Configuration {
  readonly settings: Settings;
  readonly options: ResolvedOptions;
  readonly sources: ConfigSources;
}

/**
 * Reads and checks the whole configuration, including the genesis file. The error's message lists every problem found,
 * one to a line.
 */
export function readSettings(sources: ConfigSources): Result<Settings, "badConfiguration"> {
  const configuration = readConfiguration(sources);
  return configuration.ok ? ok(configuration.value.settings) : configuration;
}

/** Like `readSettings`, but also returns where the settings come from. */
export function readConfiguration(sources: ConfigSources): Result<Configuration, "badConfiguration"> {
  return readWith(sources, {
    inForce: (options) => options,
    genesis: (options) => readGenesisFile(options, sources.workingDirectory),
  });
}

/**
 * Reads and checks everything but the genesis file again, whose chain a running node has. `inForce` says which options
 * such a node takes over; the settings are made of those. The configuration as it was read is the other part.
 */
export function rereadConfiguration(
  running: Configuration,
  inForce: (read: ResolvedOptions) => ResolvedOptions,
): Result<Configuration, "badConfiguration"> {
  const genesis = { spec: running.settings.chainSpec, warnings: [] };
  return readWith(running.sources, { inForce, genesis: () => ok(genesis) });
}

interface Reading {
  readonly inForce: (read: ResolvedOptions) => ResolvedOptions;
  readonly genesis: (options: ResolvedOptions) => Result<GenesisReading, "noGenesis" | "invalidGenesis">;
}

function readWith(sources: ConfigSources, reading: Reading): Result<Configuration, "badConfiguration"> {
  const environment = readEnvironment(sources.environment);
  const file = readConfigFile(sources, environment.raw);
  const given = [sources.raw, environment.raw, file.raw];
  const configured = [...given, profileLayer(given)];
  const isDevelopmentNetwork = OPTIONS_AGAINST_PRESET.every(
    (name) => findRaw(configured, name) === undefined,
  );
  const resolution = resolveOptions(isDevelopmentNetwork ? [...configured, presetLayer()] : configured);
  const { options } = resolution;
  const inForce = reading.inForce(options);
  const unknown = checkUnknown([...(sources.unknown ?? []), ...environment.unknown, ...file.unknown]);
  const choices = checkOptions(options);
  const staticNodes = readStaticNodes(inForce, sources.workingDirectory);
  const permissions = checkPermissions(options, sources.workingDirectory);
  const serverFiles = readServerFiles(inForce, sources.workingDirectory);
  const ethstats = readEthstats(inForce, sources.workingDirectory);
  const files = [staticNodes, permissions, serverFiles, ethstats];
  const development = developmentSettings(inForce, isDevelopmentNetwork);
  const problems = [environment, file, resolution, unknown, choices, ...files, development].flatMap(
    (found) => found.problems,
  );
  const genesis = reading.genesis(options);
  // A missing genesis file is often the consequence of another problem; report it only when there is no other.
  if (!genesis.ok && (problems.length === 0 || options.values["genesis-file"] !== undefined)) {
    problems.push(genesis.error.message);
  }
  if (!genesis.ok) return badConfiguration(problems);
  const fit = checkAgainstChain(options, genesis.value.spec);
  problems.push(...fit.problems);
  if (problems.length > 0) return badConfiguration(problems);
  const logging = loggingChoices(inForce, given, sources);
  const diagnostics = [environment, file, logging, unknown, choices, ...files, fit];
  const warnings = [...diagnostics, genesis.value].flatMap((found) => found.warnings);
  if (options.values["dev-show-keys"] && !isDevelopmentNetwork)
    warnings.push(
      "--dev-show-keys has no effect: this is not the development network, and its keys are not shown.",
    );
  const assembled = assemble(inForce, { genesis: genesis.value, ...serverFiles }, sources);
  const { nodeKey, genesisFile } = assembled;
  const settings = {
    ...offering(assembled, development.settings),
    formerGenesis: genesisFile === DEV_GENESIS_FILE ? readFormerGenesis(options) : undefined,
    development: development.settings,
    ethstats: ethstats.ethstats,
    nodeKey:
      isDevelopmentNetwork && nodeKey.keystore === undefined
        ? { ...nodeKey, initialKey: DEV_VALIDATOR_KEY }
        : nodeKey,
    peers: peerSettings(inForce.values, genesis.value.spec, {
      staticNodes: staticNodes.nodes,
      environment: sources.environment,
    }),
    isDevelopmentNetwork,
    showsDevelopmentKeys: inForce.values["dev-show-keys"],
    logging: logging.settings,
    notes: poolNotes(options, genesis.value.spec),
    warnings,
  };
  return ok({ settings, options, sources });
}

interface DataFolder {
  /** Absolute. */
  readonly dataPath: string;
  readonly logging: LoggingSettings;
}

/**
 * The data folder, for commands that need nothing else: the genesis file is not read, and rules between options are not
 * checked. The error lists every problem of the options, one to a line.
 */
export function readDataFolder(sources: ConfigSources): Result<DataFolder, "badConfiguration"> {
  const options = readOptionsAlone(sources);
  if (!options.ok) return options;
  const { values } = options.value;
  return ok({
    dataPath: resolve(sources.workingDirectory, values["data-path"]),
    // Layers only give warnings of deprecated values, which a command does not print.
    logging: loggingChoices(options.value, [], sources).settings,
  });
}

/**
 * The path of the node's key, for commands that need nothing else. The development network's key is written only to
 * the default data folder; in any other folder a new random key is generated.
 */
export function readKeyFile(sources: ConfigSources): Result<NodeKeySettings, "badConfiguration"> {
  const options = readOptionsAlone(sources);
  if (!options.ok) return options;
  const { values, isGiven } = options.value;
  const isDevelopmentNetwork = [
    ...OPTIONS_AGAINST_PRESET,
    "data-path" as const,
    "node-private-key-file" as const,
    "node-keystore-file" as const,
  ].every((name) => !isGiven(name));
  const problems = keyProblems(options.value);
  if (problems.length > 0) return badConfiguration(problems);
  return ok({
    ...keySettings(values, sources.workingDirectory),
    ...(isDevelopmentNetwork && { initialKey: DEV_VALIDATOR_KEY }),
  });
}

function keySettings(values: OptionValues, workingDirectory: string): NodeKeySettings {
  const absolute = (path: string): string => resolve(workingDirectory, path);
  const { "node-keystore-file": keystore, "node-keystore-password-file": passwordFile } = values;
  return {
    path: absolute(values["node-private-key-file"] ?? join(values["data-path"], "key")),
    ...(keystore !== undefined &&
      passwordFile !== undefined && {
        keystore: { path: absolute(keystore), passwordFile: absolute(passwordFile) },
      }),
  };
}

function readOptionsAlone(sources: ConfigSources): Result<ResolvedOptions, "badConfiguration"> {
  const environment = readEnvironment(sources.environment);
  const file = readConfigFile(sources, environment.raw);
  const resolution = resolveOptions([sources.raw, environment.raw, file.raw]);
  const problems = [...environment.problems, ...file.problems, ...resolution.problems];
  return problems.length > 0 ? badConfiguration(problems) : ok(resolution.options);
}

/** The options of the chosen profile. An invalid name is reported when the options are resolved. */
function profileLayer(given: readonly (readonly RawOption[])[]): readonly RawOption[] {
  const profile = OPTIONS.profile.type.read(findRaw(given, "profile")?.text ?? "NONE");
  return profile.ok ? givenByProfile(profile.value) : [];
}

function presetLayer(): readonly RawOption[] {
  return Object.entries(DEV_PRESET).flatMap(([spelling, text]) => {
    const name = findOption(spelling);
    return name === undefined ? [] : [{ name, text, source: { kind: "preset" } as const }];
  });
}

function readGenesisFile(
  options: ResolvedOptions,
  workingDirectory: string,
): Result<GenesisReading, "noGenesis" | "invalidGenesis"> {
  const named = options.values["genesis-file"];
  if (named === undefined) {
    return fail(
      "caller",
      "noGenesis",
      "A genesis file is required: name it with --genesis-file, or genesis-file in the configuration file.",
    );
  }
  return readGenesisAt(resolve(workingDirectory, named), options);
}

/** The development network's, as versions before Prague had it; undefined where the options leave nothing that is valid. */
function readFormerGenesis(options: ResolvedOptions): NetworkGenesis | undefined {
  const genesisFile = DEV_CANCUN_GENESIS_FILE;
  const reading = readGenesisAt(genesisFile, options);
  return reading.ok ? { genesisFile, chainSpec: reading.value.spec } : undefined;
}

function readGenesisAt(
  path: string,
  options: ResolvedOptions,
): Result<GenesisReading, "noGenesis" | "invalidGenesis"> {
  const { values } = options;
  const unreadable = (reason: string) => {
    const message = report(options, `Unable to load genesis file. ${path} ${reason}`, "genesis-file");
    return fail("caller", "noGenesis", message);
  };
  if (!existsSync(path)) return unreadable("does not exist");
  let text: string;
  try {
    text = jsonTextOf(readNamedBytes(path));
  } catch (error) {
    return unreadable(`cannot be read: ${messageOf(error)}`);
  }
  const overrides = values["override-genesis-config"];
  const expectations = { consensus: "ibft2", overrides, minGasPriceWei: values["min-gas-price"] } as const;
  const changes = OPTIONS["override-genesis-config"].type.show(overrides);
  const source = overrides.size === 0 ? path : `${path} with --override-genesis-config=${changes}`;
  const reading = readGenesis(text, source, expectations);
  if (!reading.ok || path === DEV_GENESIS_FILE) return reading;
  const { spec, warnings } = reading.value;
  return ok({ spec, warnings: [...warnings, ...forkWarnings(spec)] });
}

/** Besu 24.7.0 is the other client of these networks. */
function forkWarnings({ forks }: ChainSpec): string[] {
  if (!isAtLeast(newestFork(forks), "prague")) return [];
  return [
    "config.pragueTime of the genesis file: Besu 24.7.0 has no EIP-7702 and not the other rules of Prague either, so nodes of it cannot " +
      "follow this chain from that time on. Only a network whose nodes all have Prague should set it.",
  ];
}

type Assembled = Omit<
  Settings,
  | "isDevelopmentNetwork"
  | "formerGenesis"
  | "showsDevelopmentKeys"
  | "development"
  | "ethstats"
  | "peers"
  | "logging"
  | "notes"
  | "warnings"
>;

function assemble(
  options: ResolvedOptions,
  { genesis: { spec }, ...files }: ServerFiles & { readonly genesis: GenesisReading },
  sources: ConfigSources,
): Assembled {
  const { values } = options;
  const { workingDirectory } = sources;
  const absolute = (path: string): string => resolve(workingDirectory, path);
  const dataPath = absolute(values["data-path"]);
  const pidPath = values["pid-path"];
  const cacheBytes = values["Xplugin-rocksdb-cache-capacity"];
  const memoryMb = values["memory-mb"];
  return {
    genesisFile: absolute(values["genesis-file"] ?? ""),
    chainSpec: spec,
    dataPath,
    ...(cacheBytes !== undefined && { databaseCacheBytes: cacheBytes }),
    ...(memoryMb !== undefined && { memoryBytes: memoryMb * 1024 ** 2 }),
    nodeKey: keySettings(values, workingDirectory),
    ...signerSettings(values, workingDirectory),
    networkId: values["network-id"] ?? spec.chainId,
    clientVersion: clientVersion(values.identity),
    ...(pidPath !== undefined && { pidFile: absolute(pidPath) }),
    http: values["rpc-http-enabled"] ? httpSettings(values, files) : undefined,
    webSocket: values["rpc-ws-enabled"] ? webSocketSettings(values, files) : undefined,
    ipc: ipcSettings(values, workingDirectory),
    graphQl: values["graphql-http-enabled"] ? graphQlSettings(values, files) : undefined,
    explorer: explorerSettings(options, files, { dataPath, workingDirectory }),
    faucet: files.faucet,
    rpc: answerSettings(options),
    accountIndex:
      (values["explorer-index-enabled"] ?? values["explorer-enabled"])
        ? { maxBytes: values["explorer-index-max-mb"] * 1024 ** 2 }
        : undefined,
    maxPeers: values["max-peers"],
    metrics: metricsSettings(values),
    pool: poolSettings(values),
    permissions: {
      ...permissionSettings(values, workingDirectory),
      hostNames: !values["Xdns-enabled"] ? "none" : values["Xdns-update-enabled"] ? "any" : "known",
    },
    poolFile: values["tx-pool-enable-save-restore"]
      ? resolve(dataPath, values["tx-pool-save-file"])
      : undefined,
    blockProduction: {
      minGasPriceWei: values["min-gas-price"],
      minPriorityFeeWei: values["min-priority-fee"],
      minOccupancyRatio: values["min-block-occupancy-ratio"],
      maxBlockBytes: values["max-block-bytes"],
      targetGasLimit: values["target-gas-limit"],
      selectionTimePercent: values["poa-block-txs-selection-max-time"],
      vanity: vanityFromBytes(values["miner-extra-data"]),
    },
    ...storageSettings(values),
  };
}

function badConfiguration(problems: readonly string[]): Result<never, "badConfiguration"> {
  return fail("caller", "badConfiguration", problems.join("\n"));
}
