import { type SeenBlock, watchBlocks } from "./blockWatch.ts";
import { type Contender, startIbex } from "./contenders.ts";
import { createRpcClient } from "./httpClient.ts";
import { startValidators } from "./network.ts";
import { pause } from "./pause.ts";
import { sendFromOwnProcess } from "./throughput.ts";
import { BATCH_SIZE, senderAddresses, transferWorkload } from "./workload.ts";

const TRANSACTIONS = 20_000;
const SHOWN_BLOCKS = 8;
/** Pause before the second burst, which runs compiled code. */
const REST_AGAIN_SECONDS = 10;
/** Transactions not in a block by then count as missing. */
const MINED_WITHIN_MS = 60_000;

const VALIDATORS = 4;

/** Fill and spacing of the first blocks when a burst of transfers follows an idle period, with one validator. */
export async function measureBursts(restSeconds: number): Promise<void> {
  const alone = await startIbex();
  try {
    console.log("\none validator");
    await measureBurst(alone, restSeconds);
    await measureBurst(alone, Math.min(restSeconds, REST_AGAIN_SECONDS));
  } finally {
    await alone.stop();
  }
}

/** As measureBursts, for several validators on the same computer as the sender. */
export async function measureValidatorBursts(restSeconds: number): Promise<void> {
  const network = await startValidators(VALIDATORS);
  try {
    const [first] = network.nodes;
    if (first === undefined) throw new Error("no validator");
    console.log(`\n${VALIDATORS} validators`);
    await measureBurst(first, restSeconds);
    await measureBurst(first, Math.min(restSeconds, REST_AGAIN_SECONDS));
  } finally {
    await network.stop();
  }
}

async function measureBurst(contender: Contender, restSeconds: number): Promise<void> {
  const client = createRpcClient(contender.port, 2);
  const nonces = await client.batch<string>(
    senderAddresses().map((address) => ["eth_getTransactionCount", [address, "latest"]] as const),
  );
  const { bodies } = transferWorkload(TRANSACTIONS, nonces.map(Number));
  await pause(restSeconds * 1000);
  const blocks: SeenBlock[] = [];
  const watch = watchBlocks(client, 5, (block) => blocks.push(block));
  const report = await sendFromOwnProcess({
    port: contender.port,
    bodies,
    batchSize: BATCH_SIZE,
    stopAfterMs: 30_000,
    backlogLimit: TRANSACTIONS,
  });
  const mined = (): number => blocks.reduce((sum, { transactions }) => sum + transactions, 0);
  const untilMs = performance.now() + MINED_WITHIN_MS;
  const missing = (): number => report.sent - report.refused - mined();
  while (missing() > 0 && performance.now() < untilMs) await pause(20);
  await watch.stop();
  client.close();
  const first = blocks.findIndex(({ transactions }) => transactions > 0);
  const shown = blocks.slice(first, first + SHOWN_BLOCKS);
  const gaps = shown.map(({ seenAtMs }, index) =>
    ((seenAtMs - (blocks[first + index - 1]?.seenAtMs ?? seenAtMs)) / 1000).toFixed(2),
  );
  console.log(
    `\n${TRANSACTIONS} transfers after ${restSeconds} s idle, ${report.refused} refused, ${missing()} missing`,
  );
  console.log(`transactions in each block: ${shown.map(({ transactions }) => transactions).join(" ")}`);
  console.log(`seconds after the block before: ${gaps.join(" ")}`);
}
