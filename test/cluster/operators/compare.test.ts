import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fromRlp, type Hex, toRlp } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { IS_THOROUGH, itIfThorough } from "../../thorough.ts";
import { describeWithVectors, readVectorJson, vectorPath } from "../../vectors.ts";
import {
  freePort,
  type RunningProgram,
  rpc,
  runProgram,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";
import {
  type RecordedBesu,
  type RpcMessage,
  type RpcReply,
  startRecordedBesu,
} from "../harness/recordedBesu.ts";

const NET2 = ["besu-ibft", "net2"];
const HEAD = 717;
/** From here on transactions revert. */
const REVERTED = 50;

interface Receipt {
  readonly from: string;
  readonly blockNumber: string;
}

/** A node that holds the recorded chain, a server that answers as the recorded Besu did, and the command as a third process. */
describeWithVectors(
  "ibex compare, of an imported chain with the Besu network that made it",
  () => {
    let node: RunningProgram;
    let nodeUrl = "";
    const servers: RecordedBesu[] = [];

    beforeAll(async () => {
      const port = await freePort();
      nodeUrl = `http://127.0.0.1:${port}`;
      node = runProgram([
        `--data-path=${temporaryFolder()}`,
        "--p2p-port=0",
        `--genesis-file=${vectorPath(...NET2, "genesis.json")}`,
        "--revert-reason-enabled",
        "--rpc-http-enabled",
        "--rpc-http-api=ETH,NET,WEB3,DEBUG,TRACE,IBFT",
        `--rpc-http-port=${port}`,
        "blocks",
        "import",
        "--run",
        `--from=${vectorPath(...NET2, "chain.rlp")}`,
      ]);
      await until(() => rpc(nodeUrl, "eth_blockNumber", []).catch(() => undefined), "an answer");
    });

    afterAll(async () => {
      for (const server of servers) server.close();
      node.child.kill("SIGTERM");
      await node.exit;
    });

    async function besu(change?: (request: RpcMessage, reply: RpcReply) => RpcReply): Promise<string> {
      const server = await startRecordedBesu(NET2, nodeUrl, change);
      servers.push(server);
      return server.url;
    }

    async function compare(...options: readonly string[]) {
      const program = runProgram(["compare", `--node=${nodeUrl}`, ...options]);
      return { exitCode: await program.exit, output: program.output() };
    }

    async function compareRight(from: number, to: number): Promise<string> {
      const { exitCode, output } = await compare(`--with=${await besu()}`, `--from=${from}`, `--to=${to}`);
      expect(exitCode, output).toBe(0);
      expect(output).toContain("chain 7772, genesis 0x862d5610");
      expect(output).toContain(`blocks ${from} to ${to}`);
      expect(output).toContain(
        "explained: eth_call: a reverted `eth_call`, `eth_estimateGas` or `eth_createAccessList`",
      );
      expect(output).toMatch(
        new RegExp(
          `Compared: ${to - from + 1} blocks, \\d+ answers, 0 different, [1-9]\\d* explained, 0 not compared`,
        ),
      );
      return output;
    }

    it("finds blocks, receipts and answers the same, but for what is documented", async () => {
      await compareRight(REVERTED, REVERTED + 60);
    });

    itIfThorough("finds the whole chain the same, and shows its progress", async () => {
      expect(await compareRight(0, HEAD)).toMatch(
        /comparing blocks 0 to 717: \d+ %, \d+ blocks\/s, about .* left: \d+ blocks,/,
      );
    });

    it("tells one wrong answer with both answers, and nothing else", async () => {
      const receipts = readVectorJson<Record<string, Receipt>>(...NET2, "receipts.json");
      const { from, blockNumber } = Object.values(receipts).at(-1) ?? { from: "", blockNumber: "" };
      const isWrong = ({ method, params }: RpcMessage) =>
        method === "eth_getBalance" && params[0] === from && params[1] === blockNumber;
      const url = await besu((request, reply) => (isWrong(request) ? { ...reply, result: "0x1234" } : reply));
      const right = await rpc<string>(nodeUrl, "eth_getBalance", [from, blockNumber]);
      const report = join(temporaryFolder(), "report.jsonl");
      const number = Number(blockNumber);
      const { exitCode, output } = await compare(
        `--with=${url}`,
        `--from=${number - 3}`,
        `--to=${number + 3}`,
        `--report=${report}`,
      );
      expect(exitCode, output).toBe(3);
      expect(output).toContain(
        `DIFFERENT: block ${number}, eth_getBalance ["${from}","${blockNumber}"]\n` +
          `  at result\n  ${nodeUrl}: "${right}"\n  ${url}: "0x1234"\n`,
      );
      expect(output.match(/DIFFERENT/g)).toHaveLength(1);
      expect(output).toMatch(/Compared: 7 blocks, \d+ answers, 1 different, \d+ explained, 0 not compared/);
      const lines = readFileSync(report, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(lines.filter(({ finding }) => finding === "different")).toMatchObject([
        {
          block: number,
          method: "eth_getBalance",
          ours: `{"result":"${right}"}`,
          theirs: '{"result":"0x1234"}',
        },
      ]);
    });

    it("tells a block of another hash once, and asks nothing else of it", async () => {
      const other = `0x${"77".repeat(32)}`;
      const url = await besu((request, reply) =>
        request.method === "eth_getBlockByNumber" && request.params[0] === "0x64"
          ? { ...reply, result: { ...Object(reply.result), hash: other } }
          : reply,
      );
      const { exitCode, output } = await compare(`--with=${url}`, "--from=99", "--to=101");
      expect(exitCode, output).toBe(3);
      expect(output).toContain(
        `DIFFERENT: block 100, eth_getBlockByNumber ["0x64",true]\n  at result.hash\n`,
      );
      expect(output).toContain(`${url}: "${other}"`);
      expect(output.match(/DIFFERENT/g)).toHaveLength(1);
    });

    it("leaves commit seals and the round aside, which are each node's own, and explains withdrawals", async () => {
      const url = await besu((request, reply) => {
        if (request.method !== "eth_getBlockByNumber" || reply.result === null) return reply;
        const block = reply.result as { extraData: Hex; size: string };
        const [, , , , seals] = fromRlp(block.extraData) as unknown[];
        return request.params[0] === "0x65"
          ? { ...reply, result: { ...block, ...sealedOtherwise(block, seals), withdrawals: [] } }
          : { ...reply, result: { ...block, ...sealedOtherwise(block, seals, 0) } };
      });
      const { exitCode, output } = await compare(`--with=${url}`, "--from=100", "--to=102");
      expect(exitCode, output).toBe(0);
      expect(output).toContain("eth_getBlockByNumber: `withdrawals` and `size` of a block from Shanghai on");
    });

    it("tells other validators in the extra data", async () => {
      const url = await besu((request, reply) => {
        if (request.method !== "eth_getBlockByNumber" || request.params[0] !== "0x64") return reply;
        const block = reply.result as { extraData: Hex };
        const [vanity, , ...rest] = fromRlp(block.extraData) as Hex[];
        const extraData = toRlp([vanity ?? "0x", [], ...rest]);
        return { ...reply, result: { ...block, extraData } };
      });
      const { exitCode, output } = await compare(`--with=${url}`, "--from=99", "--to=101");
      expect(exitCode, output).toBe(3);
      expect(output).toContain("at result.extraData");
    });

    it("waits for a node that is behind or away, and says what it could not compare", async () => {
      const head = { number: 20, failures: 3, missing: 2 };
      const url = await besu((request, reply) => {
        if (request.method === "eth_blockNumber") {
          const result = `0x${head.number.toString(16)}`;
          head.number = Math.min(HEAD, head.number + 1);
          return { ...reply, result };
        }
        if (request.method === "eth_getBlockByNumber" && request.params[0] === "0x16" && head.missing-- > 0)
          return { ...reply, result: null };
        if (request.method === "eth_getLogs" && head.failures-- > 0) throw new Error("the server fails");
        return reply;
      });
      const { exitCode, output } = await compare(`--with=${url}`, "--from=18", "--to=26");
      expect(exitCode, output).toBe(0);
      expect(output).toContain("waiting for block 22, which one of the nodes does not have");
      expect(output).toContain(`${url} does not answer; waiting for it: it answers with HTTP status 503`);
      expect(output).toMatch(/Compared: 9 blocks, \d+ answers, 0 different/);
    });

    it("compares what a file names, and leaves out what a node does not offer", async () => {
      const methods = join(temporaryFolder(), "methods.json");
      writeFileSync(
        methods,
        JSON.stringify([
          { method: "eth_getTransactionByBlockNumberAndIndex", params: ["{number}", "{index}"] },
          { method: "debug_traceTransaction", params: ["{transaction}", { disableStack: true }] },
          { method: "txpool_besuStatistics" },
        ]),
      );
      const { exitCode, output } = await compare(
        `--with=${await besu()}`,
        `--methods=${methods}`,
        "--from=400",
        "--to=410",
      );
      expect(exitCode, output).toBe(0);
      expect(output).toContain(`txpool_besuStatistics is not enabled on ${nodeUrl}: it is not compared`);
    });

    it("follows new blocks until it is stopped, and shows what it finds as metrics", async () => {
      const head = { number: 30 };
      const url = await besu((request, reply) =>
        request.method === "eth_blockNumber"
          ? { ...reply, result: `0x${(head.number++).toString(16)}` }
          : request.method === "eth_getTransactionCount"
            ? { ...reply, result: "0xffff" }
            : reply,
      );
      const port = await freePort();
      const program = runProgram([
        "compare",
        `--node=${nodeUrl}`,
        `--with=${url}`,
        "--follow",
        `--metrics-port=${port}`,
      ]);
      const metrics = () =>
        fetch(`http://127.0.0.1:${port}/metrics`).then(
          (response) => response.text(),
          () => "",
        );
      const text = await until(async () => {
        const page = await metrics();
        return Number(/^compare_block_number (\d+)$/m.exec(page)?.[1]) >= 33 ? page : undefined;
      }, "block 33");
      expect(text).toMatch(/^compare_differences_total\{method="eth_getTransactionCount"\} [1-9]\d*$/m);
      expect(text).toContain('compare_node_up{node="theirs"} 1');
      program.child.kill("SIGTERM");
      expect(await program.exit, program.output()).toBe(3);
      expect(program.output()).toMatch(/Stopped after: \d+ blocks/);
    });

    it("refuses other networks, nodes that cannot be reached, and mistakes", async () => {
      const other = await besu((request, reply) =>
        request.method === "eth_chainId" ? { ...reply, result: "0x1" } : reply,
      );
      const different = await compare(`--with=${other}`);
      expect(different.output).toContain("The nodes belong to different networks: chain id 7772 and 1.");
      expect(different.exitCode).toBe(2);
      const absent = await compare(`--with=http://127.0.0.1:${await freePort()}`, "--give-up-seconds=1");
      expect(absent.output).toContain("does not answer: connect ECONNREFUSED");
      expect(absent.exitCode).toBe(4);
      const misused = await compare(`--with=${other}`, "--follow", "--to=5");
      expect(misused.output).toContain("--to and --follow exclude each other.");
      expect(misused.exitCode).toBe(2);
    });
  },
  { skip: !IS_THOROUGH },
);

/** The block as another node keeps it: sealed by one fewer, in round 1; `more` bytes of its size are the withdrawals' list. */
function sealedOtherwise({ extraData, size }: { extraData: Hex; size: string }, seals: unknown, more = 1) {
  const [vanity, validators, vote] = fromRlp(extraData) as Hex[];
  const kept = (seals as Hex[]).slice(1);
  const changed = toRlp([vanity ?? "0x", validators ?? [], vote ?? "0x", "0x00000001", kept] as Hex[]);
  const removed = (extraData.length - changed.length) / 2;
  return { extraData: changed, size: `0x${(Number(size) - removed + more).toString(16)}` };
}
