import { startIbex } from "./contenders.ts";
import { createRpcClient } from "./httpClient.ts";
import type { OverloadOrder, OverloadReport } from "./overloadSender.ts";
import { performElsewhere } from "./ownProcess.ts";
import { measureThroughput } from "./throughput.ts";
import { senderAddresses } from "./workload.ts";

/** How much more is sent than the node takes. */
const OVERLOAD = 2;
/** What the pool holds when sending stops, and what is taken faster than when it was paced. */
const SPARE_SECONDS = 15;
const SIGNED_PER_SECOND = 14_000;
/** Millions of signed transactions. */
const SENDER_HEAP_MB = 12_000;

/**
 * Transfers to new accounts by ten senders that send twice what the node takes, and send again what the full pool refused:
 * transactions taken a second beside those of a sender that waits for blocks, and what became of each transaction that was acknowledged.
 */
export async function measureOverload(seconds: number): Promise<void> {
  const node = await startIbex();
  try {
    const paced = await measureThroughput(node, "growth", Math.min(seconds, 60), SIGNED_PER_SECOND);
    console.log(
      `paced: ${paced.perSecond.toFixed(0)} taken a second, p95 of blocks ${paced.spacingP95.toFixed(2)} s`,
    );
    const client = createRpcClient(node.port, 1);
    const nonces = await client.batch<string>(
      senderAddresses().map((address) => ["eth_getTransactionCount", [address, "latest"]]),
    );
    client.close();
    const order: OverloadOrder = {
      port: node.port,
      seconds,
      perSecond: OVERLOAD * paced.perSecond,
      transactions: Math.ceil(paced.perSecond * (seconds + SPARE_SECONDS)),
      firstNonces: nonces.map(Number),
      firstCreated: paced.transactions,
    };
    console.log(
      `signing ${order.transactions} transactions, sending for ${seconds} s, then asking for each receipt`,
    );
    const report = await performElsewhere<OverloadReport>("overloadSender.js", order, SENDER_HEAP_MB);
    const { sent, acknowledged, refused, otherRefusals, firstOther, lost, taken, spacingP95 } = report;
    const perSecond = taken / seconds;
    console.log(
      `${OVERLOAD} times as many: ${perSecond.toFixed(0)} taken a second (${(perSecond / paced.perSecond).toFixed(2)} of the paced), ` +
        `p95 of blocks ${spacingP95.toFixed(2)} s`,
    );
    console.log(
      `sent ${sent}, acknowledged ${acknowledged}, refused for want of room ${refused}, lost of the acknowledged ${lost}`,
    );
    if (otherRefusals > 0) console.log(`refused otherwise ${otherRefusals}, first: ${firstOther}`);
  } finally {
    await node.stop();
  }
}
