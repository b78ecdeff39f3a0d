import type { ForkName } from "../../../src/chainspec/forks.ts";
import type { BlockContext } from "../../../src/execution/blockContext.ts";
import { BlockSession } from "../../../src/execution/blockSession.ts";
import type { MessageResult } from "../../../src/execution/evm.ts";
import { rulesOf } from "../../../src/execution/rules.ts";
import { NEVER_YIELD } from "../../../src/execution/yieldPolicy.ts";
import { type Address, addressFromHex, ZERO_ADDRESS } from "../../../src/primitives/address.ts";
import { ZERO_HASH } from "../../../src/primitives/hash.ts";
import { EMPTY_BYTES } from "../../../src/primitives/hex.ts";
import { JournaledOverlay } from "../../../src/state/overlay.ts";
import type { StateReader } from "../../../src/state/stateReader.ts";
import { EMPTY_ACCOUNT } from "../../../src/types/account.ts";

/** A message to a contract in an otherwise empty state. */
export interface LoneMessage {
  readonly fork: ForkName;
  readonly to: Address;
  readonly code?: Uint8Array;
  readonly data?: Uint8Array;
  readonly gasLimit: bigint;
}

/** Runs a message without a transaction, so that its gas is only the cost of the code. */
export async function runMessage({ fork, to, code, data, gasLimit }: LoneMessage): Promise<MessageResult> {
  const session = loneSession(fork, { to, ...(code !== undefined && { code }) });
  session.overlay.beginTransaction();
  return session.evm.run({
    caller: SENDER,
    to,
    value: 0n,
    data: data ?? EMPTY_BYTES,
    gasLimit,
    gasPrice: 0n,
    blobVersionedHashes: [],
  });
}

export const CONTRACT = addressFromHex("0x000000000000000000000000000000000000c0de");

const SENDER = addressFromHex("0x00000000000000000000000000000000000005e4");

/** A session for block 1 of a chain with id 1, whose state has only this contract. */
export function loneSession(
  fork: ForkName,
  { to, code, block = {} }: { to: Address; code?: Uint8Array; block?: Partial<BlockContext> },
): BlockSession {
  const overlay = new JournaledOverlay(EMPTY_STATE);
  if (code !== undefined) {
    overlay.putAccount(to, EMPTY_ACCOUNT);
    overlay.putCode(to, code);
  }
  return new BlockSession({
    config: { chainId: 1n, contractSizeLimitBytes: 24_576, stackLimit: 1024 },
    rules: rulesOf(fork),
    block: { ...BLOCK, ...block },
    overlay: new JournaledOverlay(overlay),
    yieldPolicy: NEVER_YIELD,
  });
}

const EMPTY_STATE: StateReader = {
  account: () => undefined,
  storage: () => EMPTY_BYTES,
  code: () => EMPTY_BYTES,
};

const BLOCK: BlockContext = {
  number: 1n,
  timestamp: 1n,
  gasLimit: 10n ** 12n,
  beneficiary: ZERO_ADDRESS,
  baseFeePerGas: 0n,
  difficulty: 0n,
  mixHash: ZERO_HASH,
  blobBaseFee: 1n,
  hashOf: () => undefined,
};
