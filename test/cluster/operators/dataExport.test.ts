import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { encodeFunctionData, type Hex, keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeChain } from "../../builders/madeChain.ts";
import { ask, askColumn } from "../../cli/data/duckdb.ts";
import { generator } from "../../storage/random.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import { runConfined } from "../harness/confinedProgram.ts";
import {
  type NodeProcess,
  pause,
  runProgram,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";
import { HEIR, makeVariedChain, type VariedChain } from "../harness/variedChain.ts";

const SEED = Number(process.env["IBEX_SEED"] ?? Date.now() % 1_000_000);
const PREFIX = "network_1337__";

interface RpcTrace {
  readonly action: Readonly<Record<string, string | undefined>>;
  readonly result?: { readonly gasUsed?: Hex } | null;
  readonly error?: string;
  readonly type: string;
  readonly blockNumber: number;
  readonly transactionHash: Hex | null;
  readonly traceAddress: readonly number[];
}

interface RpcBlock {
  readonly hash: Hex;
  readonly gasUsed: Hex;
  readonly miner: Hex;
  readonly transactions: readonly { readonly from: Hex; readonly value: Hex }[];
}

const quantity = (number: number): Hex => `0x${number.toString(16)}`;

async function exportTo(folder: string, node: Pick<NodeProcess, "httpUrl">, ...options: readonly string[]) {
  const program = runProgram(["data", "export", `--to=${folder}`, `--node=${node.httpUrl}`, ...options]);
  expect(await program.exit, program.output()).toBe(0);
  return program.output();
}

describe("ibex data export, of a running node with all kinds of transactions", () => {
  let node: NodeProcess;
  let chain: VariedChain;
  let blocks: readonly RpcBlock[] = [];
  let cryo = "";
  const table = (name: string) => `'${cryo}/${PREFIX}${name}__*.parquet'`;

  beforeAll(async () => {
    node = await startNodeProcess();
    chain = await makeVariedChain(node);
    cryo = temporaryFolder();
    const numbers = Array.from({ length: chain.lastBlock + 1 }, (_, number) => number);
    blocks = await Promise.all(
      numbers.map((number) => node.rpc<RpcBlock>("eth_getBlockByNumber", [quantity(number), true])),
    );
    await exportTo(
      cryo,
      node,
      "--tables=blocks,transactions,receipts,logs,traces,erc20_transfers,native_transfers,contracts",
      "--columns=all",
      "--blocks-per-file=3",
      `--end-block=${chain.lastBlock + 1}`,
    );
  });

  afterAll(async () => {
    expect(await node?.stop()).toBe(0);
  });

  it("has the sums that JSON-RPC has: blocks, transactions, values, gas, senders", async () => {
    const transactions = blocks.flatMap((block) => block.transactions);
    const sum = (values: readonly Hex[]) =>
      Number(values.reduce((total, value) => total + BigInt(value), 0n));
    expect(await askColumn(`select block_hash from ${table("blocks")} order by block_number`)).toEqual(
      blocks.map(({ hash }) => hash),
    );
    expect(
      await ask(
        `select count(*) as transactions, sum(gas_used)::bigint as gas, sum(value_string::uhugeint)::bigint as wei from ${table("transactions")}`,
      ),
    ).toEqual([
      {
        transactions: transactions.length,
        gas: sum(blocks.map(({ gasUsed }) => gasUsed)),
        wei: sum(transactions.map(({ value }) => value)),
      },
    ]);
    expect(
      await ask(`select from_address as sender, count(*) as n from ${table("transactions")} group by 1`),
    ).toEqual([
      {
        sender: chain.maker.toLowerCase(),
        n: Number(await node.rpc<Hex>("eth_getTransactionCount", [chain.maker, "latest"])),
      },
    ]);
    expect(
      await askColumn(
        `select count(*) from ${table("receipts")} r join ${table("blocks")} b using (block_number) where r.block_hash <> b.block_hash`,
      ),
    ).toEqual([0]);
  });

  it("has the logs that eth_getLogs finds, by topic", async () => {
    const logs = await node.rpc<{ topics: Hex[]; address: Hex; data: Hex; logIndex: Hex }[]>("eth_getLogs", [
      { fromBlock: "0x0", toBlock: quantity(chain.lastBlock) },
    ]);
    expect(
      await ask(
        `select address, topic0, topic1, topic2, topic3, data from ${table("logs")} order by block_number, log_index`,
      ),
    ).toEqual(
      logs.map(({ address, topics, data }) => ({
        address,
        topic0: topics[0] ?? null,
        topic1: topics[1] ?? null,
        topic2: topics[2] ?? null,
        topic3: topics[3] ?? null,
        data,
      })),
    );
    const balanceOf = encodeFunctionData({ abi: chain.abis.Token, functionName: "balanceOf", args: [HEIR] });
    const balance = await node.rpc<Hex>("eth_call", [
      { to: chain.contracts.token, data: balanceOf },
      "latest",
    ]);
    expect(
      await askColumn(
        `select sum(value_string::bigint)::bigint from ${table("erc20_transfers")} where to_address = from_hex('${HEIR.slice(2)}')`,
      ),
    ).toEqual([Number(BigInt(balance))]);
  });

  it("moves each account's balance as the node says", async () => {
    const moves = await ask(`
      select a as address, sum(w)::bigint as wei from (
        select to_address as a, value_string::hugeint as w from ${table("native_transfers")}
        union all select from_address, -value_string::hugeint from ${table("native_transfers")}
        union all select from_address, -(gas_used::hugeint * effective_gas_price) from ${table("receipts")}
        union all select b.author, r.gas_used::hugeint * r.effective_gas_price
          from ${table("receipts")} r join ${table("blocks")} b using (block_number)
      ) group by 1 order by 1`);
    expect(moves.length).toBeGreaterThan(5);
    for (const { address, wei } of moves) {
      const [before, after] = await Promise.all(
        ["0x0", quantity(chain.lastBlock)].map((block) => node.rpc<Hex>("eth_getBalance", [address, block])),
      );
      expect([address, Number(BigInt(after ?? 0) - BigInt(before ?? 0))]).toEqual([address, wei]);
    }
  });

  it("has the contracts, with the code that the node has", async () => {
    const contracts = await ask(
      `select contract_address as address, code, code_hash, factory from ${table("contracts")}`,
    );
    expect(contracts.map(({ address }) => address)).toEqual(
      expect.arrayContaining([chain.contracts.zoo.toLowerCase(), chain.contracts.salted.toLowerCase()]),
    );
    for (const { address, code, code_hash } of contracts) {
      const found = await node.rpc<Hex>("eth_getCode", [address, quantity(chain.lastBlock)]);
      if (found !== "0x") expect([address, code]).toEqual([address, found]);
      expect(code_hash).toBe(keccak256(code as Hex));
    }
    const nobody = await askColumn(
      `select count(*) from ${table("transactions")} where to_address is null and not success`,
    );
    expect(nobody).toEqual([2]);
  });

  it("has the traces of trace_block, in the columns of ethereum-etl too", async () => {
    const folder = temporaryFolder();
    await exportTo(
      folder,
      node,
      "--schema=ethereum-etl",
      "--tables=traces",
      `--end-block=${chain.lastBlock + 1}`,
    );
    const rows = await ask(
      `select block_number, trace_id, from_address, value, error, gas_used from read_parquet('${folder}/traces/**/*.parquet', file_row_number = true) order by file_row_number`,
    );
    const numbers = blocks.map((_, number) => number);
    const traces = (
      await Promise.all(numbers.map((number) => node.rpc<RpcTrace[]>("trace_block", [quantity(number)])))
    ).flat();
    expect(rows).toEqual(
      traces.map(({ action, result, error, type, blockNumber, transactionHash, traceAddress }) => ({
        block_number: blockNumber,
        trace_id:
          transactionHash === null
            ? `${type}_${blockNumber}_0`
            : `${type}_${transactionHash}_${traceAddress.join("_")}`,
        from_address: action["from"] ?? action["address"] ?? null,
        value: BigInt(action["value"] ?? action["balance"] ?? "none").toString(),
        error: error ?? null,
        gas_used: result?.gasUsed === undefined ? null : Number(result.gasUsed),
      })),
    );
    expect(await askColumn(`select count(*) from ${table("traces")}`)).toEqual([traces.length]);
  });
});

describe.runIf(IS_THOROUGH)("ibex data export, of a chain of 15,000 transactions", () => {
  const TABLES = [
    "--tables=blocks,transactions,receipts,logs,traces",
    "--columns=all",
    "--blocks-per-file=100",
  ];
  let made: Awaited<ReturnType<typeof makeChain>>;
  let node: NodeProcess;
  let whole = "";
  let output = "";
  const table = (name: string) => `'${whole}/${PREFIX}${name}__*.parquet'`;

  const start = (httpPort?: number) =>
    startNodeProcess({
      dataPath: made.dataPath,
      ...(httpPort !== undefined && { httpPort }),
      options: [
        `--genesis-file=${made.genesisFile}`,
        "--rpc-http-enabled",
        "--rpc-http-api=ETH,WEB3,TRACE",
        "--p2p-enabled=false",
      ],
    });

  beforeAll(async () => {
    made = await makeChain({
      folder: temporaryFolder(),
      blocks: 1500,
      transactions: 15_000,
      validators: 4,
      reward: 0n,
      seed: 1,
      spread: "varied",
    });
    node = await start();
    whole = temporaryFolder();
    output = await exportTo(whole, node, ...TABLES);
  }, 900_000);

  afterAll(async () => {
    expect(await node?.stop()).toBe(0);
  });

  it("answers DuckDB what JSON-RPC answers", async () => {
    console.log(output.trim().split("\n").at(-1));
    expect(
      await ask(
        `select count(*) as n, sum(gas_used)::bigint as gas, sum(value_f64) as wei, max(value_string) as most from ${table("transactions")}`,
      ),
    ).toEqual([{ n: made.transactions, gas: Number(made.gasUsed), wei: expect.any(Number), most: "1" }]);
    const senders = await ask(
      `select from_address as sender, count(*) as n, max(nonce) as newest from ${table("transactions")} group by 1 order by 2 desc`,
    );
    expect(senders).toHaveLength(10);
    for (const { sender, n, newest } of senders) {
      expect(Number(await node.rpc<Hex>("eth_getTransactionCount", [sender, "latest"]))).toBe(n);
      expect(newest).toBe(Number(n) - 1);
    }
    const random = generator(SEED);
    for (let times = 0; times < 20; times++) {
      const from = random.below(1000);
      const logs = await node.rpc<unknown[]>("eth_getLogs", [
        { fromBlock: quantity(from), toBlock: quantity(from + 500) },
      ]);
      expect(
        await askColumn(
          `select count(*) from ${table("logs")} where block_number between ${from} and ${from + 500}`,
        ),
      ).toEqual([logs.length]);
    }
    expect(
      await askColumn(
        `select count(*) from ${table("transactions")} t join ${table("receipts")} r using (transaction_hash) join ${table("traces")} x using (transaction_hash)`,
      ),
    ).toEqual([made.transactions]);
  });

  it(`gives the same files when it is killed at any moment, and the node is started again (IBEX_SEED=${SEED})`, async () => {
    const random = generator(SEED);
    const folder = temporaryFolder();
    const options = ["data", "export", `--to=${folder}`, `--node=${node.httpUrl}`, ...TABLES];
    let kills = 0;
    for (let isOver = false; !isOver; ) {
      const program = runProgram(options);
      // A third of the files at most, so that there are two kills before the end, on however fast or busy a machine.
      const killAt = filesIn(folder).length + random.below(filesIn(whole).length / 3);
      await until(
        async () => (filesIn(folder).length >= killAt || program.child.exitCode !== null ? true : undefined),
        `${killAt} files, or the end`,
      );
      await pause(random.below(500));
      program.child.kill("SIGKILL");
      const code = await program.exit;
      if (code === null) kills++;
      else expect(code, program.output()).toBe(0);
      isOver = code === 0;
      if (kills === 2 && random.below(2) === 0) {
        await node.kill();
        node = await start(node.httpPort);
      }
    }
    expect(kills).toBeGreaterThan(1);
    expect(contentsOf(folder)).toEqual(contentsOf(whole));
  });

  it("waits for a node that is started again, and gives the same files", async () => {
    const folder = temporaryFolder();
    const program = runProgram(["data", "export", `--to=${folder}`, `--node=${node.httpUrl}`, ...TABLES]);
    await until(async () => (filesIn(folder).length > 4 ? true : undefined), "the first files");
    await node.kill();
    await until(async () => (program.output().includes("waiting for it") ? true : undefined), "the wait");
    node = await start(node.httpPort);
    expect(await program.exit, program.output()).toBe(0);
    expect(contentsOf(folder)).toEqual(contentsOf(whole));
  });

  it("says that the disk is full, and goes on when there is room", async () => {
    const folder = temporaryFolder();
    const options = ["data", "export", `--to=${folder}`, `--node=${node.httpUrl}`, ...TABLES, "--format=csv"];
    const program = runConfined(options, { first: "ulimit -f 300" });
    expect(await program.exit, program.output()).toBe(74);
    expect(program.output()).toMatch(
      /The export in .* cannot be written: EFBIG.* run the command again to continue\./,
    );
    expect(await runProgram(options).exit).toBe(0);
    expect(await askColumn(`select count(*) from '${folder}/${PREFIX}transactions__*.csv'`)).toEqual([
      made.transactions,
    ]);
    rmSync(folder, { recursive: true });
  });
});

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => !name.startsWith("."))
    .sort();
}

/** The digest of each file. */
function contentsOf(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    filesIn(folder).map((name) => [
      name,
      createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex"),
    ]),
  );
}
