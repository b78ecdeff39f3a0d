/**
 * `npm run test:long`: the suites of the daily run that take a count, with higher counts, and the tests that are too long
 * for it (test/thorough.ts). Each prints its seed; IBEX_SEED repeats one. Counts already in the environment are kept.
 */
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Counts of kills under load, power cut seeds, malformed requests, damaged folders, killed migrations, simulated pools,
 * networks with a Byzantine validator, networks of real nodes, untrusted peers, rewinds, and seconds of each attack; restarts
 * of whole networks, rounds of kill and restore, sizes of networks in which mistakes are made, blocks that a validator misses, and validators that vote each other in.
 */
const NUMBERS = {
  IBEX_THOROUGH: "yes",
  IBEX_KILLS: "20",
  IBEX_POWER_CUTS: "100",
  IBEX_FUZZ: "20000",
  IBEX_DAMAGES: "100",
  IBEX_IMPORT_KILLS: "12",
  IBEX_MIGRATION_KILLS: "20",
  IBEX_POOL_LIVES: "2000",
  IBEX_SABOTAGE_SEEDS: "1000",
  IBEX_REAL_WORLDS: "20",
  IBEX_RECORDINGS: "all",
  IBEX_UNTRUSTED_PEERS: "1000",
  IBEX_REWINDS: "5",
  IBEX_HOSTILE: "2",
  IBEX_RESTARTS: "2",
  IBEX_RESTORE_ROUNDS: "20",
  IBEX_MISTAKES: "4",
  IBEX_DOWN_BLOCKS: "30",
  IBEX_MOST_VALIDATORS: "4",
};

const SUITES = [
  "test/calls/tracePool",
  "test/chain/mutatedBlocks",
  "test/cluster/debugLog",
  "test/cluster/discovery",
  "test/cluster/durability",
  "test/cluster/alerts",
  "test/cluster/anvil",
  "test/cluster/badConfiguration",
  "test/cluster/clocks",
  "test/cluster/endlessCall",
  "test/cluster/endlessTransactions",
  "test/cluster/foundry",
  "test/cluster/largeAnswers",
  "test/cluster/largeBlocks",
  "test/cluster/generatedNetwork",
  "test/cluster/handOver",
  "test/cluster/localnet",
  "test/cluster/longOutage",
  "test/cluster/lostKey",
  "test/cluster/lostVotes",
  "test/cluster/oneKeyTwice",
  "test/cluster/package",
  "test/cluster/migration",
  "test/cluster/mistakes",
  "test/cluster/peers",
  "test/cluster/manyCallers",
  "test/cluster/manySubscribers",
  "test/cluster/remoteSigner",
  "test/cluster/restart",
  "test/cluster/restoreRounds",
  "test/cluster/validatorSet",
  "test/cluster/validators.test",
  "test/cli/importNetworks",
  "test/cluster/fuzz",
  "test/cluster/damage",
  "test/cluster/rewind",
  "test/cluster/faultyValidator",
  "test/cluster/hostilePeers",
  "test/cluster/conditions",
  "test/cluster/fullDisk",
  "test/cluster/shutdown",
  "test/cluster/smallDisk",
  "test/cluster/syncing",
  "test/cluster/web3",
  "test/docs/manual",
  "test/evm/coreModules",
  "test/execution/modexp",
  "test/execution/oracle",
  "test/execution/precompiles",
  "test/execution/interpreter/transientStorage",
  "test/logs/logScan",
  "test/network/discovery",
  "test/network/malformedInput",
  "test/network/slowLink",
  "test/primitives/workerTermination",
  "test/rpc/methods/recordedAnswers",
  "test/rpc/methods/recordedTraces",
  "test/node/powerCut",
  "test/rpc/server/slowReaders",
  "test/state",
  "test/storage/bytesOnDisk",
  "test/storage/damage",
  "test/storage/leveldb/levelCopy",
  "test/chain/bulk",
  "test/txpool/lifetime",
  "test/txpool/model",
  "test/simulation/misfortunes",
  "test/simulation/network",
  "test/simulation/sabotage",
  "test/simulation/realNetwork",
  "test/simulation/twins",
  "test/cluster/tls",
];

const { status } = spawnSync(
  process.execPath,
  [
    join(root, "node_modules", "vitest", "vitest.mjs"),
    "run",
    "--config",
    "test/vitest.config.ts",
    ...SUITES,
    ...process.argv.slice(2),
  ],
  {
    cwd: root,
    stdio: "inherit",
    env: { ...NUMBERS, ...process.env },
  },
);
process.exit(status ?? 1);
