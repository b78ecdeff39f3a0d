import { createBlock } from "@ethereumjs/block";
import { createCustomCommon, Mainnet } from "@ethereumjs/common";
import { RLP } from "@ethereumjs/rlp";
import { MerkleStateManager } from "@ethereumjs/statemanager";
import { createTxFromRLP } from "@ethereumjs/tx";
import { Account, Address } from "@ethereumjs/util";
import { createVM, runTx } from "@ethereumjs/vm";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { bigintToBytes } from "../../../src/primitives/quantity.ts";
import { forkOfVector } from "../../conformance/suites/vectorForks.ts";
import { transactionOf } from "./executor.ts";
import type { StateTestProgram } from "./stateTestProgram.ts";

/** What @ethereumjs/vm makes of a program, as text. It knows no hashes of earlier blocks. */
export async function thirdOpinion(program: StateTestProgram, gasLimit: bigint): Promise<string> {
  try {
    return await libraryOutcome(program, gasLimit);
  } catch (error) {
    return `refused: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function libraryOutcome({ fork, env, pre, transaction }: StateTestProgram, gasLimit: bigint) {
  const hardfork = fork === "Paris" ? "paris" : forkOfVector(fork);
  const common = createCustomCommon({ chainId: 1 }, Mainnet, { hardfork });
  const stateManager = new MerkleStateManager({ common });
  for (const [name, { balance, nonce, code, storage }] of Object.entries(pre)) {
    const address = new Address(hexToBytes(name));
    await stateManager.putAccount(address, new Account(BigInt(nonce), BigInt(balance)));
    if (code !== "0x") await stateManager.putCode(address, hexToBytes(code));
    for (const [slot, value] of Object.entries(storage))
      await stateManager.putStorage(address, hexToBytes(slot), bigintToBytes(BigInt(value)));
  }
  const vm = await createVM({ common, stateManager });
  const { currentRandom, currentBaseFee, currentExcessBlobGas } = env;
  const header = {
    number: env["currentNumber"] as `0x${string}`,
    timestamp: env["currentTimestamp"] as `0x${string}`,
    gasLimit: env["currentGasLimit"] as `0x${string}`,
    coinbase: env["currentCoinbase"] as `0x${string}`,
    difficulty: BigInt(env["currentDifficulty"] ?? "0x0"),
    ...(currentRandom !== undefined && { mixHash: hexToBytes(currentRandom) }),
    ...(currentBaseFee !== undefined && { baseFeePerGas: BigInt(currentBaseFee) }),
    ...(currentExcessBlobGas !== undefined && { excessBlobGas: BigInt(currentExcessBlobGas) }),
  };
  const block = createBlock({ header }, { common, skipConsensusFormatValidation: true });
  const tx = createTxFromRLP(transactionOf(transaction, gasLimit).raw, { common });
  const { totalGasSpent, execResult } = await runTx(vm, { tx, block, skipHardForkValidation: true });
  const root = toHex(await vm.stateManager.getStateRoot());
  const logs = toHex(keccak256(RLP.encode((execResult.logs ?? []) as unknown as Uint8Array[])));
  const status = execResult.exceptionError?.error ?? "succeeded";
  return `${status}, gas ${totalGasSpent}, root ${root}, logs ${logs}`;
}
