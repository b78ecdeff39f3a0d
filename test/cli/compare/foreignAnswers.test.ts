import { createServer, type Server } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { differingPlaces } from "../../../src/cli/compare/differingPlaces.ts";
import { Endpoint, NodeUnreachable } from "../../../src/cli/compare/endpoint.ts";
import { COMPARE_LIMITS } from "../../../src/cli/compare/limits.ts";
import { readMethodTemplates } from "../../../src/cli/compare/methodTemplates.ts";
import { parseAnswer, showValue } from "../../../src/cli/compare/parseAnswer.ts";
import { Stop, Stopped } from "../../../src/cli/compare/stop.ts";

const pathsOf = (ours: string, theirs: string): readonly string[] =>
  differingPlaces(parseAnswer(ours), parseAnswer(theirs)).map(({ path }) => path.join("."));

describe("answers of a foreign node", () => {
  it("are compared as they are written, without regard to the order of members", () => {
    expect(pathsOf('{"a":1,"b":[true,null,"x"]}', '{"b":[true,null,"x"],"a":1}')).toEqual([]);
    expect(pathsOf('{"a":1}', '{"a":1.0}')).toEqual(["a"]);
    expect(pathsOf('{"a":9007199254740993}', '{"a":9007199254740992}')).toEqual(["a"]);
    expect(pathsOf('{"a":"0x0"}', '{"a":"0x00"}')).toEqual(["a"]);
    expect(pathsOf('{"a":1}', '{"a":"1"}')).toEqual(["a"]);
    expect(pathsOf('{"a":null}', "{}")).toEqual(["a"]);
    expect(pathsOf('{"a":[]}', '{"a":{}}')).toEqual(["a"]);
    expect(pathsOf('{"__proto__":1,"constructor":2}', "{}")).toEqual(["__proto__", "constructor"]);
    expect(pathsOf("[1,2,3]", "[1,4]")).toEqual(["1", "2"]);
  });

  it("are shown as they were written", () => {
    const text = '{"a":-1.50e3,"b":"say \\"1\\" \\\\","c":[0]}';
    expect(showValue(parseAnswer(text))).toBe(text);
  });

  it("are refused when nested too deeply", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect(pathsOf(nested(COMPARE_LIMITS.answerDepth), nested(COMPARE_LIMITS.answerDepth))).toEqual([]);
    expect(() => parseAnswer(nested(COMPARE_LIMITS.answerDepth + 1))).toThrow("nested too deeply");
  });
});

describe("a node that is asked", () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  async function endpointFor(
    answer: (asked: unknown) => { status?: number; body: string | Buffer },
    giveUpAfterMs = 0,
  ) {
    const started = createServer((request, response) => {
      let text = "";
      request.on("data", (chunk: Buffer) => {
        text += chunk.toString("utf8");
      });
      request.on("end", () => {
        const { status = 200, body } = answer({ ...request.headers, asked: JSON.parse(text) });
        response.writeHead(status).end(body);
      });
    });
    server = started;
    await new Promise<void>((resolve) => started.listen({ host: "127.0.0.1", port: 0 }, resolve));
    const port = Object(started.address()).port;
    const stop = new Stop(new Promise(() => undefined));
    return new Endpoint(new URL(`http://user:secret@127.0.0.1:${port}/`), {
      answerBytes: COMPARE_LIMITS.answerBytes,
      parse: parseAnswer,
      giveUpAfterMs,
      stop: stop.signal,
      sleep: async () => undefined,
      nowMs: () => performance.now(),
      onAway: () => undefined,
      onBack: () => undefined,
    });
  }

  const replyTo = (asked: unknown): unknown => {
    const { id, method } = Object(asked);
    return {
      jsonrpc: "2.0",
      id,
      result: method === "large" ? "x".repeat(COMPARE_LIMITS.answerBytes) : "0x1",
    };
  };

  it("gives the answers that can be read when another one of the batch is too large", async () => {
    const endpoint = await endpointFor((request) => {
      const { asked } = Object(request);
      return { body: JSON.stringify(Array.isArray(asked) ? asked.map(replyTo).reverse() : replyTo(asked)) };
    });
    const methods = ["eth_a", "large", "eth_b"];
    const answers = await endpoint.ask(methods.map((method) => ({ method, params: [] })));
    expect(answers).toMatchObject([
      { kind: "answer", result: "0x1" },
      { kind: "unread", reason: `the answer has more than ${COMPARE_LIMITS.answerBytes} bytes` },
      { kind: "answer", result: "0x1" },
    ]);
  });

  it("is not asked for ever, nor told the password in lines for people", async () => {
    const endpoint = await endpointFor(() => ({ status: 503, body: "" }));
    const asked = endpoint.ask([{ method: "eth_a", params: [] }]);
    await expect(asked).rejects.toThrow(NodeUnreachable);
    await expect(asked).rejects.toThrow("it answers with HTTP status 503");
    expect(endpoint.name).not.toContain("secret");
  });

  it("is sent user and password", async () => {
    let authorization = "";
    const endpoint = await endpointFor((request) => {
      const { asked, authorization: sent } = Object(request);
      authorization = String(sent);
      return { body: JSON.stringify(replyTo(asked)) };
    });
    await endpoint.ask([{ method: "eth_a", params: [] }]);
    expect(authorization).toBe(`Basic ${Buffer.from("user:secret").toString("base64")}`);
  });

  it("is left at once when the comparison is stopped", async () => {
    const stop = new Stop(Promise.resolve("SIGTERM"));
    await expect(stop.sleep(2 ** 30)).rejects.toThrow(Stopped);
  });
});

describe("a file of methods", () => {
  it.each([
    ["{}", "it is not a list"],
    ["[]", "it does not have 1 to 100 entries"],
    ["[1]", "entry 1: it has no method"],
    ['[{"method":"eth_call","params":{}}]', "entry 1: its params are not a list"],
    ['[{"method":"eth_call","params":["{block}"]}]', "entry 1: {block} is not one of the placeholders"],
    ['[{"method":"eth_call","params":["{address}","{call}"]}]', "one of them is possible"],
    ['[{"method":"eth_sendRawTransaction","params":["0x"]}]', "eth_sendRawTransaction may change a node"],
    ['[{"method":"miner_stop"}]', "miner_stop may change a node"],
    ['[{"method":"debug_setHead","params":["0x1"]}]', "debug_setHead may change a node"],
    ['[{"method":"ibft_proposeValidatorVote"}]', "ibft_proposeValidatorVote may change a node"],
  ])("is refused: %s", (text, reason) => {
    const read = readMethodTemplates(text);
    expect(read.ok ? "" : read.error.message).toContain(reason);
  });

  it("may name the methods that only read", () => {
    const methods = [
      "debug_replayBlockTransactions",
      "trace_replayBlockTransactions",
      "txpool_besuStatistics",
      "eth_getProof",
    ];
    expect(readMethodTemplates(JSON.stringify(methods.map((method) => ({ method })))).ok).toBe(true);
  });
});
