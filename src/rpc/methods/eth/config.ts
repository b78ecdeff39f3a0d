import type { ChainReader } from "../../../chain/chainReader.ts";
import type { ChainSpec } from "../../../chainspec/chainSpec.ts";
import { ForkIds, type ForkProgress, forkPoints } from "../../../chainspec/forkId.ts";
import { type ForkName, type ForkSchedule, forkAt, isAtLeast } from "../../../chainspec/forks.ts";
import { precompileAddress, precompileCount } from "../../../execution/precompiles/addresses.ts";
import { BLOB_GAS, rulesOf } from "../../../execution/rules.ts";
import {
  CONSOLIDATION_CONTRACT,
  HISTORY_CONTRACT,
  WITHDRAWAL_CONTRACT,
} from "../../../execution/systemCalls.ts";
import { EMPTY_CODE_HASH } from "../../../primitives/hash.ts";
import { equalBytes, toHex } from "../../../primitives/hex.ts";
import { bigintToFixedBytes, toQuantity } from "../../../primitives/quantity.ts";
import { ERRORS } from "../../errors/errors.ts";
import { defineMethod, type Json } from "../../method.ts";
import { OBJECT } from "../../schemas.ts";

/**
 * Not in Besu 24.7, but in execution-apis (EIP-7910): the rules at the head, those of the next fork and of the last one. A fork
 * by block number is shown once it is active: before, nobody knows its time. `blobSchedule` is null before Cancun, as in
 * go-ethereum, and `systemContracts` has only those that have code at the head: a block of an IBFT chain skips the others
 * (ibft2.md#later-forks).
 */
export const ethConfig = defineMethod({
  name: "eth_config",
  namespace: "ETH",
  summary: "The rules at the head and those of forks that are scheduled by time (EIP-7910).",
  parameters: [],
  result: { name: "configuration", schema: OBJECT },
  ports: ["chain", "spec"],
  run(_, { backend: { chain, spec } }) {
    const { genesis, head } = chain;
    const currentTime = activationTime(chain, spec.forks);
    if (currentTime === undefined) return ERRORS.historyNotStored;
    const points = forkPoints(spec.forks, genesis.header.timestamp);
    const forkIds = new ForkIds(genesis.hash, points);
    const scheduled = points.times.filter((time) => time > head.header.timestamp);
    const systemContracts = deployedSystemContracts(chain);
    const configAt = (time: bigint, at: ForkProgress): Json =>
      configOf({ spec, forkIds, systemContracts }, time, at);
    const scheduledConfig = (time: bigint | undefined): Json =>
      time === undefined ? null : configAt(time, { number: AFTER_FORKS_BY_NUMBER, timestamp: time });
    return {
      current: configAt(currentTime, head.header),
      next: scheduledConfig(scheduled[0]),
      last: scheduledConfig(scheduled.at(-1)),
    };
  },
});

/** Forks by time come after all forks by number. */
const AFTER_FORKS_BY_NUMBER = 2n ** 64n;

/** Since when the rules at the head are active, seconds; 0 for those of the genesis block. Undefined when its header is not stored. */
function activationTime(chain: ChainReader, schedule: ForkSchedule): bigint | undefined {
  const { number, timestamp } = chain.head.header;
  const fork = forkAt(schedule, number, timestamp);
  const at = schedule.activations.findLast((each) => each.fork === fork)?.at ?? { block: 0n };
  if ("time" in at) return at.time <= chain.genesis.header.timestamp ? 0n : at.time;
  return at.block === 0n ? 0n : chain.headerByNumber(at.block)?.header.timestamp;
}

/** The system contracts that have code at the head, with their addresses. */
function deployedSystemContracts(chain: ChainReader): Readonly<Record<string, string>> {
  const state = chain.stateAt(chain.head.header.number);
  const deployed = SYSTEM_CONTRACTS.filter(([, address]) => {
    const account = state?.account(address);
    return account !== undefined && !equalBytes(account.codeHash, EMPTY_CODE_HASH);
  });
  return Object.fromEntries(deployed.map(([name, address]) => [name, toHex(address)]));
}

interface ChainConfig {
  readonly spec: ChainSpec;
  readonly forkIds: ForkIds;
  readonly systemContracts: Readonly<Record<string, string>>;
}

function configOf({ spec, forkIds, systemContracts }: ChainConfig, time: bigint, at: ForkProgress): Json {
  const fork = forkAt(spec.forks, at.number, at.timestamp);
  return {
    activationTime: Number(time),
    blobSchedule: blobSchedule(fork),
    chainId: toQuantity(spec.chainId),
    forkId: toHex(bigintToFixedBytes(BigInt(forkIds.at(at).checksum), 4)),
    precompiles: Object.fromEntries(
      PRECOMPILE_NAMES.slice(0, precompileCount(fork))
        .map((name, index) => [name, toHex(precompileAddress(index + 1))] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
    systemContracts: rulesOf(fork).hasSystemCalls ? systemContracts : {},
  };
}

/** Names by EIP-7910, in the order of their addresses. */
const PRECOMPILE_NAMES = [
  "ECREC",
  "SHA256",
  "RIPEMD160",
  "ID",
  "MODEXP",
  "BN254_ADD",
  "BN254_MUL",
  "BN254_PAIRING",
  "BLAKE2F",
  "KZG_POINT_EVALUATION",
  "BLS12_G1ADD",
  "BLS12_G1MSM",
  "BLS12_G2ADD",
  "BLS12_G2MSM",
  "BLS12_PAIRING_CHECK",
  "BLS12_MAP_FP_TO_G1",
  "BLS12_MAP_FP2_TO_G2",
];

const SYSTEM_CONTRACTS = [
  ["CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS", CONSOLIDATION_CONTRACT],
  ["HISTORY_STORAGE_ADDRESS", HISTORY_CONTRACT],
  ["WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS", WITHDRAWAL_CONTRACT],
] as const;

/** The limits of EIP-4844 and EIP-7691. Target and fraction move no price on an IBFT chain, whose headers have no blob gas. */
function blobSchedule(fork: ForkName): Json {
  if (!isAtLeast(fork, "cancun")) return null;
  const max = Number(rulesOf(fork).blobGasLimit / BLOB_GAS);
  return isAtLeast(fork, "prague")
    ? { baseFeeUpdateFraction: 5_007_716, max, target: 6 }
    : { baseFeeUpdateFraction: 3_338_477, max, target: 3 };
}
