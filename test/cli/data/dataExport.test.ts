import fs, {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { until } from "../../cluster/harness/nodeProcess.ts";
import { temporaryFolder } from "../../storage/temporaryFolder.ts";
import { itIfThorough } from "../../thorough.ts";
import { ibexHere } from "../program.ts";
import { ask, askColumn } from "./duckdb.ts";
import { hashOf, RECIPIENT, SENDER, startToyNode, type ToyNode, toyChain } from "./toyNode.ts";

const PREFIX = "network_7171__";

describe("ibex data export", () => {
  let node: ToyNode;
  let folder = "";

  beforeEach(async () => {
    node = await startToyNode(toyChain(25));
    folder = join(temporaryFolder(), "out");
  });
  afterEach(() => node.close());

  const exportTo = (to: string, ...options: readonly string[]) =>
    ibexHere(["data", "export", `--to=${to}`, `--node=${node.url}`, "--blocks-per-file=10", ...options], {
      awaitStop: () => ({ received: new Promise(() => undefined) }),
    });

  async function exported(...options: readonly string[]): Promise<string> {
    const { exitCode, output, errors } = await exportTo(folder, ...options);
    expect(exitCode, output + errors).toBe(0);
    return output;
  }

  describe("names files as the tools do", () => {
    it("of cryo", async () => {
      expect(await exported("--tables=blocks")).toContain("Exported: 26 blocks; 3 files");
      expect(filesIn(folder)).toEqual([
        `${PREFIX}blocks__00000000_to_00000009.parquet`,
        `${PREFIX}blocks__00000010_to_00000019.parquet`,
        `${PREFIX}blocks__00000020_to_00000025.parquet`,
      ]);
    });

    it("of ethereum-etl", async () => {
      await exported(
        "--tables=receipts",
        "--schema=ethereum-etl",
        "--format=csv",
        "--compression=gzip",
        "--start-block=8",
        "--end-block=12",
      );
      expect(filesIn(folder)).toEqual([
        "receipts/start_block=00000008/end_block=00000009/receipts_00000008_00000009.csv.gz",
        "receipts/start_block=00000010/end_block=00000011/receipts_00000010_00000011.csv.gz",
      ]);
      expect(await ask(`select count(*) as n from '${folder}/receipts/**/*.csv.gz'`)).toEqual([{ n: 4 }]);
    });
  });

  describe("keeps every value, in each format", () => {
    const huge = `0x${"ff".repeat(32)}`;
    const long = `0x${Array.from({ length: 100_000 }, (_, at) => (at % 256).toString(16).padStart(2, "0")).join("")}`;
    const error = 'says "no", and\r\nnothing, else\n';
    const odd = {
      transaction: { to: null, value: huge, gasPrice: huge, input: "0x00ff00", gas: "0xffffffffffffffff" },
      receipt: { contractAddress: RECIPIENT, status: undefined, root: hashOf("root") },
      logs: [
        { address: RECIPIENT, topics: [hashOf("a"), hashOf("b")], data: long },
        { address: RECIPIENT, topics: [], data: "0x" },
      ],
      traces: [
        {
          action: { callType: "call", from: SENDER, to: RECIPIENT, value: huge, gas: "0x1", input: "0x" },
          error,
        },
      ],
    };

    beforeEach(() => {
      node.chain = toyChain(3, { transactions: (number) => (number === 2 ? [odd, {}] : []) });
    });

    it.each(["parquet", "csv", "json"])("as %s, in the columns of ethereum-etl", async (format) => {
      await exported(
        "--schema=ethereum-etl",
        `--format=${format}`,
        "--tables=transactions,receipts,logs,traces",
      );
      const read = (table: string) =>
        `read_${format === "json" ? "json" : format}('${folder}/${table}/**/*.${format}'${format === "csv" ? ", all_varchar = true, allow_quoted_nulls = false, max_line_size = 1000000" : ""})`;
      expect(
        await ask(`select value, to_address, input from ${read("transactions")} order by value desc`),
      ).toEqual([
        { value: (2n ** 256n - 1n).toString(), to_address: null, input: "0x00ff00" },
        { value: "1", to_address: RECIPIENT, input: "0x" },
      ]);
      expect(
        await ask(
          `select status::int as status, root, contract_address from ${read("receipts")} order by root`,
        ),
      ).toEqual([
        { status: null, root: hashOf("root"), contract_address: RECIPIENT },
        { status: 1, root: null, contract_address: null },
      ]);
      const topics = format === "json" ? "array_to_string(topics, ',')" : "topics";
      expect(
        await ask(`select data, ${topics} as topics, log_index::int as i from ${read("logs")} order by i`),
      ).toEqual([
        { data: long, topics: `${hashOf("a")},${hashOf("b")}`, i: 0 },
        { data: "0x", topics: "", i: 1 },
      ]);
      expect(await ask(`select error, status::int as status from ${read("traces")}`)).toEqual([
        { error, status: 0 },
      ]);
    });

    it("as Parquet, in the columns and types of cryo; what exceeds 64 bits is null there", async () => {
      await exported("--columns=all", "--tables=transactions,receipts,logs,traces");
      const table = (name: string) => `'${folder}/${PREFIX}${name}__*.parquet'`;
      const [first, second] = await ask(`from ${table("transactions")} order by transaction_index`);
      expect(first).toMatchObject({
        block_number: 2,
        transaction_hash: node.chain[2]?.receipts[0]?.["transactionHash"],
        to_address: null,
        value_binary: huge,
        value_string: (2n ** 256n - 1n).toString(),
        value_f64: 2 ** 256,
        gas_limit: 2n ** 64n - 1n,
        gas_price: null,
        success: null,
        n_input_bytes: 3,
        n_input_zero_bytes: 2,
        n_input_nonzero_bytes: 1,
        v: false,
        r: `0x${"1".padStart(64, "0")}`,
        chain_id: 7171,
      });
      expect(second).toMatchObject({ to_address: RECIPIENT, success: true, gas_price: 0, value_f64: 1 });
      expect(
        await ask(
          `select topic0, topic1, topic2, data, n_data_bytes from ${table("logs")} order by log_index`,
        ),
      ).toEqual([
        { topic0: hashOf("a"), topic1: hashOf("b"), topic2: null, data: long, n_data_bytes: 100_000 },
        { topic0: null, topic1: null, topic2: null, data: "0x", n_data_bytes: 0 },
      ]);
      expect(await ask(`select error, action_value from ${table("traces")}`)).toEqual([
        { error, action_value: (2n ** 256n - 1n).toString() },
      ]);
    });
  });

  it("takes transfers and contracts from traces, without what was undone or runs in its caller's place", async () => {
    const call = (traceAddress: readonly number[], value: string, more: object = {}) => ({
      action: { callType: "call", from: SENDER, to: RECIPIENT, gas: "0x1", input: "0x", value },
      result: { gasUsed: "0x0", output: "0x" },
      traceAddress,
      ...more,
    });
    const created = `0x${"c0".repeat(20)}`;
    const creation = (traceAddress: readonly number[]) => ({
      action: { from: SENDER, gas: "0x1", init: "0x6001", value: "0x7" },
      result: { address: created, code: "0xc0de", gasUsed: "0x0" },
      traceAddress,
      type: "create",
    });
    const failed = { error: "Reverted", result: undefined };
    const traces = [
      call([], "0x1"),
      call([0], "0x2", failed),
      call([0, 0], "0x3"),
      creation([0, 1]),
      call([1], "0x4"),
      { ...call([1, 0], "0x5"), action: { ...call([], "0x5").action, callType: "delegatecall" } },
      creation([2]),
      {
        action: { address: created, balance: "0x8", refundAddress: RECIPIENT },
        result: null,
        traceAddress: [3],
        type: "suicide",
      },
    ];
    node.chain = toyChain(1, {
      transactions: () => [{ traces: [call([], "0x9", failed), call([0], "0x9")] }, { traces }],
    });
    await exported("--tables=native_transfers,contracts,traces");
    const table = (name: string) => `'${folder}/${PREFIX}${name}__*.parquet'`;
    expect(
      await ask(
        `select transfer_index as i, value_f64 as v, to_address as recipient from ${table("native_transfers")}`,
      ),
    ).toEqual([
      { i: 2, v: 1, recipient: RECIPIENT },
      { i: 6, v: 4, recipient: RECIPIENT },
      { i: 8, v: 7, recipient: created },
      { i: 9, v: 8, recipient: RECIPIENT },
    ]);
    expect(
      await ask(`select create_index, contract_address, code, n_init_code_bytes from ${table("contracts")}`),
    ).toEqual([{ create_index: 0, contract_address: created, code: "0xc0de", n_init_code_bytes: 2 }]);
    expect(
      await ask(
        `select action_call_type as t, trace_address as a from ${table("traces")} where t like 'del%'`,
      ),
    ).toEqual([{ t: "delegate_call", a: "1_0" }]);
  });

  it("asks for many blocks at once when they are small, also in several files", async () => {
    await exported("--tables=blocks");
    const sizes = node.asked
      .filter(([method]) => method === "eth_getBlockByNumber")
      .map(({ length }) => length);
    // The files end at blocks 9, 19 and 25; the first sixteen blocks tell how large they are.
    expect(sizes).toEqual([...Array.from({ length: 18 }, () => 1), 2, 6]);
  });

  it("asks for large blocks one by one, when it is their turn", async () => {
    const large = { logs: [{ address: RECIPIENT, topics: [], data: `0x${"00".repeat(2_000_000)}` }] };
    node.chain = toyChain(29, { transactions: (number) => (number < 20 ? [{}] : [large]) });
    await exported("--format=csv", "--tables=receipts");
    const blocks = node.asked.filter(([method]) => method === "eth_getBlockByNumber");
    const once = (count: number) => Array.from({ length: count }, () => 1);
    // Blocks 20 to 29 together have 40 MB.
    expect(blocks.map(({ length }) => length / 2)).toEqual([...once(18), 2, 10, ...once(10)]);
    expect(await askColumn(`select count(*) from '${folder}/${PREFIX}receipts__*.csv'`)).toEqual([29]);
  });

  describe("when it is run again", () => {
    it("goes on where it ended, with the files that one run gives", async () => {
      await exported("--end-block=13");
      const before = statSync(join(folder, `${PREFIX}logs__00000000_to_00000009.parquet`)).mtimeMs;
      expect(await exported("--end-block=20")).toContain("Exported: 7 blocks, 7 transactions");
      expect(await exported("--end-block=20")).toContain("nothing new");
      expect(statSync(join(folder, `${PREFIX}logs__00000000_to_00000009.parquet`)).mtimeMs).toBe(before);
      expect(await numbers()).toEqual(Array.from({ length: 20 }, (_, number) => number));
    });

    it("renames what a kill has left between the record and the names, and writes what is missing anew", async () => {
      await exported("--end-block=20");
      const name = `${PREFIX}blocks__00000010_to_00000019.parquet`;
      const content = readFileSync(join(folder, name));
      renameSync(join(folder, name), join(folder, ".ibex-export", `${name}.part`));
      expect(await exported("--end-block=20")).toContain("nothing new");
      expect(readFileSync(join(folder, name))).toEqual(content);
      rmSync(join(folder, name));
      expect(await exported("--end-block=20")).toContain(
        `${name} is missing or damaged: blocks 10 to 19 will be rewritten`,
      );
      expect(readFileSync(join(folder, name))).toEqual(content);
    });

    it("takes a line that a kill has left unfinished for none", async () => {
      await exported("--end-block=20");
      const record = join(folder, ".ibex-export", "record.jsonl");
      const text = readFileSync(record, "utf8");
      writeFileSync(record, text.slice(0, -40));
      writeFileSync(join(folder, ".ibex-export", "left.part"), "rest");
      expect(await exported("--end-block=20")).toContain("Exported: 10 blocks");
      expect(readFileSync(record, "utf8")).toBe(text);
      expect(readdirSync(join(folder, ".ibex-export"))).toEqual(["record.jsonl"]);
    });

    it("has whole lines of a disk that takes a few bytes at a time", async () => {
      const { writeSync } = fs;
      const write = vi.spyOn(fs, "writeSync").mockImplementation((file, data: unknown, at: unknown) => {
        const from = Number(at ?? 0);
        return writeSync(file, Buffer.from(data as string).subarray(from, from + 100));
      });
      syncBuiltinESMExports();
      try {
        await exported("--end-block=20");
      } finally {
        write.mockRestore();
        syncBuiltinESMExports();
      }
      expect(await exported("--end-block=20")).toContain("nothing new");
    });

    it("refuses other options, another chain, other files and a folder in use", async () => {
      await exported("--end-block=20");
      const refusal = async (...options: readonly string[]) => {
        const { exitCode, errors } = await exportTo(folder, ...options);
        expect(exitCode).toBe(2);
        return errors;
      };
      expect(await refusal("--schema=ethereum-etl")).toContain(
        "an export with --schema cryo, not ethereum-etl",
      );
      expect(await refusal("--tables=blocks")).toContain(
        "--tables blocks,transactions,receipts,logs, not blocks.",
      );
      writeFileSync(join(folder, ".ibex-export", "lock"), `${process.ppid} ${startOf(process.ppid)}\n`);
      expect(await refusal()).toContain(`Another export writes to this folder, process ${process.ppid}.`);
      writeFileSync(join(folder, ".ibex-export", "lock"), `${process.ppid} 7\n`);
      expect(await exported("--end-block=20")).toContain("nothing new");
      node.chain = toyChain(25, { seed: "b", forkAt: 0 });
      expect(await refusal()).toContain(`with genesis block ${hashOf("common 0")}, not ${hashOf("b 0")}`);
      rmSync(join(folder, ".ibex-export"), { recursive: true });
      expect(await refusal()).toContain("contains other files");
    });
  });

  describe("when the chain was set back", () => {
    it("writes the ranges anew that have other blocks now, and no others", async () => {
      await exported();
      const first = readFileSync(join(folder, `${PREFIX}blocks__00000000_to_00000009.parquet`));
      node.chain = toyChain(30, { seed: "b", forkAt: 15 });
      const output = await exported();
      expect(output).toContain("The chain was rewound: blocks 20 to 25 will be rewritten");
      expect(output).toContain("The chain was rewound: blocks 10 to 19 will be rewritten");
      expect(output).toContain("Exported: 21 blocks");
      expect(readFileSync(join(folder, `${PREFIX}blocks__00000000_to_00000009.parquet`))).toEqual(first);
      expect(await hashes()).toEqual(node.chain.map(({ block }) => block["hash"]));
    });

    it("notices it between two requests", async () => {
      const replaced = toyChain(30, { seed: "b", forkAt: 5 });
      node.answer = (method, [number]) => {
        if (method === "eth_getBlockReceipts" && number === "0x11") node.chain = replaced;
        return undefined;
      };
      expect(await exported("--end-block=25")).toContain(
        "The chain was rewound: block 17 was replaced while it was read\nThe chain was rewound: blocks 0 to 9 will be",
      );
      expect(await hashes()).toEqual(replaced.slice(0, 25).map(({ block }) => block["hash"]));
    });

    it("keeps a range above the newest block, which may come again", async () => {
      await exported();
      const { chain } = node;
      node.chain = chain.slice(0, 12);
      expect(await exported()).toContain("nothing new");
      node.chain = chain;
      expect(await exported()).toContain("nothing new");
    });
  });

  it("follows the head: a file when all of its blocks are there, until it is stopped", async () => {
    const whole = node.chain;
    node.chain = whole.slice(0, 14);
    let stop = (): void => undefined;
    const received = new Promise<string>((resolve) => {
      stop = () => resolve("SIGTERM");
    });
    const running = ibexHere(
      ["data", "export", `--to=${folder}`, `--node=${node.url}`, "--blocks-per-file=10", "--follow"],
      { awaitStop: () => ({ received }) },
    );
    const hasFile = (last: string) => async () =>
      existsSync(folder) && filesIn(folder).includes(`${PREFIX}logs__${last}.parquet`) ? true : undefined;
    await until(hasFile("00000000_to_00000009"), "the first file");
    expect(filesIn(folder)).toHaveLength(4);
    node.chain = whole.slice(0, 21);
    await until(hasFile("00000010_to_00000019"), "the second file");
    stop();
    const { exitCode, output } = await running;
    expect([exitCode, output]).toEqual([0, expect.stringContaining("Run the command again to continue.")]);
    expect(await numbers()).toEqual(Array.from({ length: 20 }, (_, number) => number));
  });

  describe("says what is wrong", () => {
    it.each([
      ["--start-block=40", 1, "Block 40 is above the newest block, 25."],
      ["--start-block=4 --end-block=4", 2, "--start-block=4 is not below --end-block=4."],
      [
        "--tables=blocks,uncles",
        2,
        "cryo has no table uncles. Its tables are blocks, transactions, receipts, logs,",
      ],
      [
        "--format=csv --compression=snappy",
        2,
        "--compression=snappy is for Parquet; --format=csv takes gzip, zstd or none.",
      ],
      ["--network=a/b", 2, "--network=a/b is not a name of up to 64 letters, digits, _ and -."],
    ])("%s", async (options, code, message) => {
      const { exitCode, errors } = await exportTo(folder, ...options.split(" "));
      expect([exitCode, errors]).toEqual([code, expect.stringContaining(message)]);
      expect(existsSync(folder) ? filesIn(folder) : []).toEqual([]);
    });

    it.each([
      [
        "a method that is off",
        { error: { code: -32604, message: "Method not enabled" } },
        "The node does not offer trace_block: start it with TRACE in --rpc-http-api.",
      ],
      [
        "traces that are no list",
        { result: {} },
        "The node's answer violates JSON-RPC: the traces of block 0 is not a list.",
      ],
    ])("of %s", async (_, answer, message) => {
      node.answer = (method) => (method === "trace_block" ? answer : undefined);
      const { exitCode, errors } = await exportTo(folder, "--tables=traces");
      expect([exitCode, errors.trim()]).toEqual([1, message]);
      expect(filesIn(folder)).toEqual([]);
    });

    it("of a value that is none", async () => {
      node.chain = toyChain(2, { transactions: () => [{ transaction: { value: "0xzz" } }] });
      const { exitCode, errors } = await exportTo(folder);
      expect([exitCode, errors]).toEqual([
        1,
        expect.stringContaining('transactions of block 1: "0xzz" is not a whole number'),
      ]);
    });

    it("of blocks that a node made from a snapshot, or one that removes old blocks, does not have", async () => {
      node.answer = (method, [number]) => {
        if (Number(number) < 1 || Number(number) >= 10) return undefined;
        if (method === "eth_getBlockByNumber") return { result: null };
        return method === "eth_getBlockReceipts"
          ? { error: { code: -32000, message: "Block not found" } }
          : undefined;
      };
      const { exitCode, errors } = await exportTo(folder);
      expect([exitCode, errors]).toEqual([
        1,
        "The node has no block 1, only those from 10 on: it was made from a snapshot, or removes old ones (--block-history). " +
          "Use --start-block=10, or a node that has all blocks.\n",
      ]);
      expect(await exported("--start-block=10")).toContain("16 blocks");
    });

    itIfThorough("of states that the traces follow from and that it does not have", async () => {
      node.answer = (method, [number]) =>
        method === "trace_block" && Number(number) < 9
          ? { error: { code: -32000, message: "World state unavailable" } }
          : undefined;
      const { exitCode, errors } = await exportTo(folder, "--tables=traces");
      expect([exitCode, errors]).toEqual([
        1,
        expect.stringMatching(
          /trace_block of block 0 with an error: World state unavailable\. It does not have the state before that block: .*--state-history/,
        ),
      ]);
      expect(await exported("--tables=traces", "--start-block=9")).toContain("Exported: 0 traces; 3 files");
    });

    it("asks again for what was answered with an error, which passes", async () => {
      let errors = 2;
      node.answer = (method, [number]) =>
        method === "eth_getBlockReceipts" && number === "0x5" && errors-- > 0
          ? { error: { code: -32000, message: "Timeout expired" } }
          : undefined;
      expect(await exported()).toContain("26 blocks");
      expect(errors).toBe(-1);
    });
  });

  const numbers = () =>
    askColumn(`select block_number from '${folder}/${PREFIX}blocks__*.parquet' order by 1`);
  const hashes = () =>
    askColumn(`select block_hash from '${folder}/${PREFIX}blocks__*.parquet' order by block_number`);
});

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !path.startsWith("."))
    .sort();
}

function startOf(processId: number): string {
  return readFileSync(`/proc/${processId}/stat`, "utf8").split(") ").at(-1)?.split(" ")[19] ?? "";
}
