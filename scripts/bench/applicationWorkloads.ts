import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex } from "viem";
import { type ApplicationName, compileApplications } from "../../test/contracts/applications.ts";
import { accounts, type Draft, presign, signDraft, type Workload } from "./workload.ts";

/* What users of test/applications do most, ten of them at once. All set-up transactions are the first account's, except
 * for approvals, so that the addresses of contracts are known before. */

const SUPPLY = 10n ** 32n;
const EACH_HAS = 10n ** 30n;
const RESERVE = 10n ** 30n;
/** Small beside the reserves, so that prices stay. */
const AMOUNT = 10n ** 12n;
const NEVER = 2n ** 256n - 1n;
const NATIVE_RATE_BPS = 1000n;
const LOCK_SECONDS = 14n * 86_400n;

/** Swaps of exact amounts over one hop through the router, every other one in the other direction. */
export function swapWorkload(count: number, firstNonces: readonly number[]): Workload {
  const plan = createSetUp(firstNonces);
  const tokens = [plan.deployToken(), plan.deployToken()] as const;
  const [token, other] = tokens;
  const wrapped = plan.deploy("WrappedNative");
  const exchange = plan.deploy("Exchange");
  const router = plan.deploy("Router", [exchange, wrapped]);
  plan.callFromFirst("Exchange", exchange, "createPool", tokens);
  for (const one of tokens) plan.share(one, router);
  const provision = { token, other, desired: RESERVE, otherDesired: RESERVE, least: 0n, otherLeast: 0n };
  plan.callFromFirst("Router", router, "addLiquidity", [provision, accounts[0]?.address, NEVER]);
  const { abi } = compileApplications().Router;
  const bodies = presign(count, plan.nonces, (index) => {
    const to = accounts[index % accounts.length]?.address;
    const path = index % 2 === 0 ? tokens : [other, token];
    const args = [AMOUNT, 0n, path, to, NEVER];
    return {
      to: router,
      gasLimit: 200_000n,
      data: encodeFunctionData({ abi, functionName: "swapExactIn", args }),
    };
  });
  return { name: "swaps", setUp: plan.raws, bodies, transactions: count };
}

/** Stakes that grow: each settles the rewards so far, and moves tokens. */
export function stakeWorkload(count: number, firstNonces: readonly number[]): Workload {
  const plan = createSetUp(firstNonces);
  const token = plan.deployToken();
  const staking = plan.deploy("Staking", [token, NATIVE_RATE_BPS, LOCK_SECONDS]);
  plan.share(token, staking);
  const { abi } = compileApplications().Staking;
  const data = encodeFunctionData({ abi, functionName: "stake", args: [AMOUNT] });
  const bodies = presign(count, plan.nonces, () => ({ to: staking, gasLimit: 200_000n, data }));
  return { name: "stakes", setUp: plan.raws, bodies, transactions: count };
}

/** Signs what comes before the workload, and counts nonces on. */
function createSetUp(firstNonces: readonly number[]) {
  const compiled = compileApplications();
  const nonces = [...firstNonces];
  const raws: Hex[] = [];

  function sign(index: number, draft: Draft): number {
    const [account, nonce] = [accounts[index], nonces[index]];
    if (account === undefined || nonce === undefined) throw new Error("no such sender");
    nonces[index] = nonce + 1;
    raws.push(signDraft(draft, nonce, account.privateKey));
    return nonce;
  }

  function call(
    index: number,
    name: ApplicationName,
    to: Hex,
    functionName: string,
    args: readonly unknown[],
  ): void {
    const data = encodeFunctionData({ abi: compiled[name].abi, functionName, args });
    sign(index, { to, data, gasLimit: 2_000_000n });
  }

  function deploy(name: ApplicationName, args: readonly unknown[] = []): Hex {
    const { abi, bytecode } = compiled[name];
    const nonce = sign(0, { data: encodeDeployData({ abi, bytecode, args }), gasLimit: 5_000_000n });
    return getContractAddress({ from: accounts[0]?.address ?? "0x", nonce: BigInt(nonce) });
  }

  return {
    nonces,
    raws,
    deploy,
    callFromFirst: (name: ApplicationName, to: Hex, functionName: string, args: readonly unknown[]) =>
      call(0, name, to, functionName, args),
    deployToken: () => deploy("IssuedToken", ["Bench Token", "BENCH", 18, SUPPLY]),
    /** Gives every account its part of a token, and lets `spender` take it. */
    share(token: Hex, spender: Hex): void {
      for (const [index, { address }] of accounts.entries()) {
        if (index > 0) call(0, "IssuedToken", token, "transfer", [address, EACH_HAS]);
        call(index, "IssuedToken", token, "approve", [spender, NEVER]);
      }
    },
  };
}
