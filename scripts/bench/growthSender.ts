/**
 * The sending process of growth.ts: signs transfers to accounts that nobody has used as it sends them, because ten million
 * signed ones would take gigabytes. It reports as sender.ts does.
 */

import { encodeFunctionData } from "viem";
import { isTokenTransfer, recipientOf, tokenAddress, transferToNew } from "./growthRecipients.ts";
import { performOrder } from "./ownProcess.ts";
import { type SendReport, sendBodies } from "./sendBodies.ts";
import { compileToken } from "./token.ts";
import { BATCH_SIZE, signAsAsked } from "./workload.ts";

export interface GrowthOrder {
  readonly port: number;
  /** Indexes of the recipients. */
  readonly from: number;
  readonly until: number;
  /** Of the senders, before the transaction of index `from`. */
  readonly firstNonces: readonly number[];
  /** Whether a tenth are ERC-20 transfers of a token that is deployed. */
  readonly hasTokens: boolean;
  readonly backlogLimit: number;
}

function send(order: GrowthOrder): Promise<SendReport> {
  const { abi } = compileToken();
  const token = tokenAddress();
  const bodies = signAsAsked(order, order.firstNonces, (index) => {
    if (!order.hasTokens || !isTokenTransfer(index)) return transferToNew(index);
    const data = encodeFunctionData({ abi, functionName: "transfer", args: [recipientOf(index), 1n] });
    return { to: token, data, gasLimit: 80_000n };
  });
  return sendBodies({ ...order, batchSize: BATCH_SIZE, stopAfterMs: Number.POSITIVE_INFINITY }, bodies);
}

performOrder(send);
