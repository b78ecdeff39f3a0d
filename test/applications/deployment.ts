import {
  encodeAbiParameters,
  encodeDeployData,
  getContractAddress,
  type Hex,
  keccak256,
  parseEther,
  parseUnits,
  toHex,
} from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { toHex as digitsOf } from "../../src/primitives/hex.ts";
import { account } from "../builders/testAccounts.ts";
import { compileApplications } from "../contracts/applications.ts";
import { type Actor, type Call, type Contract, call, createActor } from "./chainClient.ts";
import type { Networks } from "./networks.ts";
import {
  EXCHANGE_TOKEN_RATE_BPS,
  LOCK_SECONDS,
  MINIMUM_LOCKER_SECONDS,
  WRAPPED_NATIVE_RATE_BPS,
} from "./parameters.ts";

/** All applications on running networks, and accounts with native coins to use them. */
export interface Deployment extends Networks {
  /** Deployed everything, owns it, and holds the supply of all tokens; at home and at the bridge's other end. */
  readonly owner: Actor;
  readonly baseOwner: Actor;
  readonly actors: Readonly<Record<ActorName, Actor>>;
  /** Watches both ends of the bridge and brings proofs. */
  readonly bridgeValidators: readonly PrivateKeyAccount[];
  readonly contracts: Readonly<Record<HomeContract, Contract>>;
  readonly baseContracts: Readonly<Record<"project" | "stable" | "bridge", Contract>>;
}

export type ActorName = (typeof ACTORS)[number];
type HomeContract =
  | "wrapped"
  | "wrappedStable"
  | "exchangeToken"
  | "bridge"
  | "exchange"
  | "router"
  | "nativePool"
  | "stablePool"
  | "farmedPool"
  | "farm"
  | "nativeStaking"
  | "exchangeStaking"
  | "shortNativeStaking"
  | "shortExchangeStaking"
  | "locker"
  | "shortLocker";

const ACTORS = ["relayer", "bridger", "provider", "trader", "farmer", "staker", "hasty", "holder"] as const;

export const BRIDGE_THRESHOLD = 3;
/** What a live test can wait for, in seconds. */
export const SHORT_LOCK_SECONDS = 2n;
export const EMISSION_PER_SECOND = parseEther("1");
export const NATIVE_DAILY_LIMIT = parseEther("300");
const STABLE_DAILY_LIMIT = parseUnits("500000", 6);
const NATIVE_RESERVE = parseEther("1000");
/** Of the farm's plots: shares of the pool of wrapped native and stablecoins, and of exchange tokens and wrapped native. */
export const PLOT_WEIGHTS = [3n, 1n] as const;

const EACH_ACTOR_HAS = parseEther("200");
const TOKEN_SUPPLY = parseEther("100000000");

/**
 * Deploys the applications, links them, and gives accounts what they need, in as many transactions as a block takes: later
 * ones name contracts that earlier ones create, whose addresses are known before.
 */
export async function deployApplications(networks: Networks): Promise<Deployment> {
  const { home, base } = networks;
  const richest = privateKeyToAccount(digitsOf(account(0).privateKey));
  const owner = await createActor(home, richest);
  // One counter of nonces for one account of one chain.
  const baseOwner = base === home ? owner : await createActor(base, richest);
  const bridgeValidators = [1, 2, 3, 4].map((number) => accountNamed(`bridge validator ${number}`));
  const addresses = bridgeValidators.map(({ address }) => address);
  const homeContracts = deployHome(owner, base.chain.id, addresses);
  const baseContracts = deployBase(baseOwner, home.chain.id, addresses);
  const contracts = { ...homeContracts, ...poolsOf(homeContracts) };
  const [actors] = await Promise.all([
    createActors(networks, owner, baseOwner),
    linkBridges(owner, baseOwner, contracts, baseContracts),
    openPools(owner, contracts),
    shareTokens(owner, baseOwner, contracts, baseContracts),
    owner.deployed(),
    baseOwner.deployed(),
  ]);
  return { ...networks, owner, baseOwner, actors, bridgeValidators, contracts, baseContracts };
}

export function accountNamed(name: string): PrivateKeyAccount {
  return privateKeyToAccount(keccak256(toHex(name)));
}

function deployHome(owner: Actor, remoteChain: number, validators: readonly Hex[]) {
  const compiled = compileApplications();
  const wrapped = owner.deploy("WrappedNative", compiled.WrappedNative);
  const wrappedStable = owner.deploy("IssuedToken", compiled.IssuedToken, ["Wrapped Stable", "WUSD", 6, 0n]);
  const exchangeToken = owner.deploy("IssuedToken", compiled.IssuedToken, [
    "Exchange",
    "XCH",
    18,
    TOKEN_SUPPLY,
  ]);
  const exchange = owner.deploy("Exchange", compiled.Exchange);
  const staking = (token: Contract, rateBps: bigint, lockSeconds: bigint) =>
    owner.deploy("Staking", compiled.Staking, [token.address, rateBps, lockSeconds]);
  return {
    ...{ wrapped, wrappedStable, exchangeToken, exchange },
    bridge: deployBridge(owner, remoteChain, validators),
    router: owner.deploy("Router", compiled.Router, [exchange.address, wrapped.address]),
    farm: owner.deploy("Farm", compiled.Farm, [exchangeToken.address, EMISSION_PER_SECOND]),
    nativeStaking: staking(wrapped, WRAPPED_NATIVE_RATE_BPS, LOCK_SECONDS),
    exchangeStaking: staking(exchangeToken, EXCHANGE_TOKEN_RATE_BPS, LOCK_SECONDS),
    shortNativeStaking: staking(wrapped, WRAPPED_NATIVE_RATE_BPS, SHORT_LOCK_SECONDS),
    shortExchangeStaking: staking(exchangeToken, EXCHANGE_TOKEN_RATE_BPS, SHORT_LOCK_SECONDS),
    locker: owner.deploy("Locker", compiled.Locker, [MINIMUM_LOCKER_SECONDS]),
    shortLocker: owner.deploy("Locker", compiled.Locker, [SHORT_LOCK_SECONDS]),
  };
}

function deployBase(owner: Actor, remoteChain: number, validators: readonly Hex[]) {
  const { IssuedToken } = compileApplications();
  return {
    project: owner.deploy("IssuedToken", IssuedToken, ["Project", "PRJ", 18, TOKEN_SUPPLY]),
    stable: owner.deploy("IssuedToken", IssuedToken, ["Stable", "USD", 6, TOKEN_SUPPLY]),
    bridge: deployBridge(owner, remoteChain, validators),
  };
}

function deployBridge(owner: Actor, remoteChain: number, validators: readonly Hex[]): Contract {
  const args = [BigInt(remoteChain), validators, BigInt(BRIDGE_THRESHOLD)];
  return owner.deploy("Bridge", compileApplications().Bridge, args);
}

/** Where the exchange will create its pools (CREATE2). */
function poolsOf({ exchange, exchangeToken, wrapped, wrappedStable }: ReturnType<typeof deployHome>) {
  const { abi, bytecode } = compileApplications().Pool;
  const poolOf = (...pair: readonly [Contract, Contract]): Contract => {
    const [token0, token1] = pair
      .map(({ address }) => address)
      .sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
    const args = [token0, token1];
    const salt = keccak256(
      encodeAbiParameters([{ type: "address" }, { type: "address" }], args as [Hex, Hex]),
    );
    const creation = { from: exchange.address, salt, bytecode: encodeDeployData({ abi, bytecode, args }) };
    return { name: "Pool", abi, address: getContractAddress({ opcode: "CREATE2", ...creation }) };
  };
  return {
    nativePool: poolOf(exchangeToken, wrapped),
    stablePool: poolOf(exchangeToken, wrappedStable),
    farmedPool: poolOf(wrapped, wrappedStable),
  };
}

async function createActors({ home, base }: Networks, owner: Actor, baseOwner: Actor) {
  const named = await Promise.all(
    ACTORS.map(async (name) => [name, await createActor(home, accountNamed(name))] as const),
  );
  await Promise.all(named.map(([, { address }]) => owner.transfer(address, EACH_ACTOR_HAS)));
  if (base !== home)
    await Promise.all(named.map(([, { address }]) => baseOwner.transfer(address, EACH_ACTOR_HAS)));
  return Object.fromEntries(named) as Record<ActorName, Actor>;
}

/** The kinds of Bridge.sol. */
export const KIND = { none: 0, locked: 1, minted: 2, native: 3 } as const;
export const NATIVE: Hex = "0x0000000000000000000000000000000000000000";

async function linkBridges(
  owner: Actor,
  baseOwner: Actor,
  { bridge, wrappedStable }: Deployment["contracts"],
  base: Deployment["baseContracts"],
): Promise<void> {
  await Promise.all([
    owner.sendAll([
      call(bridge, "setRemoteBridge", base.bridge.address),
      call(bridge, "addPair", NATIVE, base.project.address, KIND.native, NATIVE_DAILY_LIMIT),
      call(bridge, "addPair", wrappedStable.address, base.stable.address, KIND.minted, STABLE_DAILY_LIMIT),
      call(wrappedStable, "setMinter", bridge.address, true),
      { ...call(bridge, "fund", NATIVE, NATIVE_RESERVE), value: NATIVE_RESERVE },
    ]),
    baseOwner.sendAll([
      call(base.bridge, "setRemoteBridge", bridge.address),
      call(base.bridge, "addPair", base.project.address, NATIVE, KIND.locked, NATIVE_DAILY_LIMIT),
      call(
        base.bridge,
        "addPair",
        base.stable.address,
        wrappedStable.address,
        KIND.locked,
        STABLE_DAILY_LIMIT,
      ),
    ]),
  ]);
}

/** Stablecoins to begin with; the bridge brings all others. */
async function shareTokens(
  owner: Actor,
  baseOwner: Actor,
  { exchangeToken, wrappedStable }: Deployment["contracts"],
  { project, stable }: Deployment["baseContracts"],
): Promise<void> {
  const addressOf = (name: ActorName) => accountNamed(name).address;
  await Promise.all([
    owner.sendAll([
      call(wrappedStable, "setMinter", owner.address, true),
      call(wrappedStable, "mint", addressOf("provider"), parseUnits("10000", 6)),
      call(wrappedStable, "mint", addressOf("farmer"), parseUnits("100", 6)),
      call(exchangeToken, "transfer", addressOf("provider"), parseEther("10000")),
      call(exchangeToken, "transfer", addressOf("trader"), parseEther("1000")),
    ]),
    baseOwner.sendAll([
      call(project, "transfer", addressOf("bridger"), parseEther("50")),
      call(stable, "transfer", addressOf("bridger"), parseUnits("1000", 6)),
    ]),
  ]);
}

async function openPools(owner: Actor, contracts: Deployment["contracts"]): Promise<void> {
  const { exchange, wrapped, wrappedStable, exchangeToken, farm, nativePool, farmedPool } = contracts;
  const open = (token: Contract, other: Contract): Call => ({
    ...call(exchange, "createPool", token.address, other.address),
    gas: POOL_CREATION_GAS,
  });
  await owner.sendAll([
    open(exchangeToken, wrapped),
    open(exchangeToken, wrappedStable),
    open(wrapped, wrappedStable),
    call(exchangeToken, "setMinter", farm.address, true),
    call(farm, "addPlot", farmedPool.address, PLOT_WEIGHTS[0]),
    call(farm, "addPlot", nativePool.address, PLOT_WEIGHTS[1]),
  ]);
}

const POOL_CREATION_GAS = 2_000_000n;
