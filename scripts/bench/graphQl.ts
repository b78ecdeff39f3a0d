import { type Contender, freePort, isGethInstalled, startGeth, startIbex } from "./contenders.ts";
import { createRpcClient, type RpcClient } from "./httpClient.ts";
import { openHttpRequester } from "./httpRequester.ts";
import { measureAsking } from "./measureAsking.ts";
import { pause } from "./pause.ts";
import { atQuantile, printBeside } from "./report.ts";
import { senderAddresses, tokenWorkload } from "./workload.ts";

const TRANSACTIONS = 200;
const CONNECTIONS = 4;
const WARM_UP_SECONDS = 2;
const ROUNDS = 3;

/**
 * A block with some 200 token transfers and their receipts and logs, over GraphQL in one query, beside JSON-RPC in one batch, and
 * beside geth's GraphQL where there is a geth: how many a second, the slowest hundredth, the node's CPU for each, and the bytes of
 * an answer.
 */
export async function measureGraphQl(seconds: number): Promise<void> {
  const graphQlPort = await freePort();
  const options = [
    "--graphql-http-enabled",
    `--graphql-http-port=${graphQlPort}`,
    "--explorer-enabled=false",
  ];
  const { batch, graphQl } = await whileRunning(await startIbex(undefined, options), async (node) => {
    const { number, transactions } = await fullBlock(node);
    console.log(
      `\na block of ${transactions} token transfers with receipts and logs, ${CONNECTIONS} connections`,
    );
    const batchOfBlock = { port: node.port, path: "/", body: batchOf(number) };
    const query = { port: graphQlPort, path: "/graphql", body: queryOf(number) };
    const batches: Figures[] = [];
    const queries: Figures[] = [];
    // The two take turns, because the speed of a machine that others use changes.
    for (let round = 0; round < ROUNDS; round++) {
      batches.push(await askForSeconds(node, batchOfBlock, seconds / ROUNDS));
      queries.push(await askForSeconds(node, query, seconds / ROUNDS));
    }
    return { batch: medianOf(batches), graphQl: medianOf(queries) };
  });
  printAll(graphQl, "JSON-RPC", batch);
  if (!isGethInstalled()) {
    console.log("beside geth: not measured, for neither GO_GETH nor the path has it");
    return;
  }
  const geth = await whileRunning(await startGeth(), async (node) => {
    await fundSenders(node);
    const { number, transactions } = await fullBlock(node);
    console.log(`\ngeth, with a block of ${transactions}`);
    return askForSeconds(node, { port: node.port, path: "/graphql", body: queryOf(number) }, seconds);
  });
  printAll(graphQl, "geth", geth);
}

/** The middle one of each figure: a round in which the machine stood still does not count. */
function medianOf(rounds: readonly Figures[]): Figures {
  const median = (of: (each: Figures) => number): number => atQuantile(rounds.map(of), 0.5);
  return {
    perSecond: median(({ perSecond }) => perSecond),
    p99Ms: median(({ p99Ms }) => p99Ms),
    cpuMs: median(({ cpuMs }) => cpuMs),
    kilobytes: median(({ kilobytes }) => kilobytes),
  };
}

async function whileRunning<T>(node: Contender, measure: (node: Contender) => Promise<T>): Promise<T> {
  try {
    return await measure(node);
  } finally {
    await node.stop();
  }
}

function printAll(graphQl: Figures, peer: string, others: Figures): void {
  printBeside("GraphQL: answers per second", "1/s", graphQl.perSecond, peer, others.perSecond);
  printBeside("GraphQL: p99", "ms", graphQl.p99Ms, peer, others.p99Ms);
  printBeside("GraphQL: node's CPU for an answer", "ms", graphQl.cpuMs, peer, others.cpuMs);
  printBeside("GraphQL: size of an answer", "KB", graphQl.kilobytes, peer, others.kilobytes);
}

/** Has the account of the node give to those that send; waits until they have it. */
async function fundSenders({ port }: Contender): Promise<void> {
  const client = createRpcClient(port, 1);
  const [from] = await client.call<string[]>("eth_accounts");
  const hashes: string[] = [];
  for (const to of senderAddresses())
    hashes.push(await client.call("eth_sendTransaction", [{ from, to, value: "0x3635c9adc5dea00000" }]));
  await minedBlocks(client, hashes);
  client.close();
}

/** The block with most transactions of those that were sent together. */
async function fullBlock({
  port,
}: Contender): Promise<{ readonly number: string; readonly transactions: number }> {
  const client = createRpcClient(port, 1);
  const { setUp, bodies } = tokenWorkload(
    TRANSACTIONS,
    senderAddresses().map(() => 0),
  );
  for (const raw of setUp) await client.call("eth_sendRawTransaction", [raw]);
  const pooled = await Promise.all(bodies.map((body) => client.post(body)));
  const hashes = pooled.flatMap((text) =>
    (JSON.parse(text) as { readonly result: string }[]).map(({ result }) => result),
  );
  const numbers = await minedBlocks(client, hashes);
  client.close();
  const counts = new Map<string, number>();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  const [[number, transactions] = ["0x0", 0]] = [...counts].sort(([, one], [, other]) => other - one);
  return { number, transactions };
}

/** The numbers of the blocks that have the transactions; waits for these. */
async function minedBlocks(client: RpcClient, hashes: readonly string[]): Promise<readonly string[]> {
  const numbers: string[] = [];
  for (const hash of hashes) {
    const receiptOf = () =>
      client.call<{ readonly blockNumber: string } | null>("eth_getTransactionReceipt", [hash]);
    let receipt = await receiptOf();
    for (; receipt === null; receipt = await receiptOf()) await pause(100);
    numbers.push(receipt.blockNumber);
  }
  return numbers;
}

function batchOf(number: string): string {
  return JSON.stringify([
    { jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber", params: [number, true] },
    { jsonrpc: "2.0", id: 2, method: "eth_getBlockReceipts", params: [number] },
  ]);
}

/** What a batch answers of a transaction and its receipt, less the blooms. */
function queryOf(number: string): string {
  const query = `query Block($n: Long!) { block(number: $n) {
    number hash parent { hash } timestamp stateRoot transactionsRoot receiptsRoot gasLimit gasUsed baseFeePerGas miner { address }
    transactions {
      hash nonce index from { address } to { address } value gas gasPrice inputData type v r s
      status gasUsed cumulativeGasUsed effectiveGasPrice createdContract { address }
      logs { index account { address } topics data }
    }
  } }`;
  return JSON.stringify({ query, variables: { n: number } });
}

interface Question {
  readonly port: number;
  readonly path: string;
  readonly body: string;
}

interface Figures {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly cpuMs: number;
  readonly kilobytes: number;
}

async function askForSeconds(
  node: Contender,
  { port, path, body }: Question,
  seconds: number,
): Promise<Figures> {
  const requesters = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => openHttpRequester(port, { path })),
  );
  const times = { warmUpSeconds: WARM_UP_SECONDS, seconds };
  let bytes = 0;
  const asked = await measureAsking(node, requesters, times, async (requester) => {
    const answer = await requester.ask(body);
    if (!answer.startsWith("HTTP/1.1 200 ")) throw new Error(answer.slice(0, 1000));
    bytes = answer.length;
  });
  return { ...asked, cpuMs: asked.cpuMicroseconds / 1000, kilobytes: bytes / 1000 };
}
