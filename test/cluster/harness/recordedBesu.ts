import { createServer, type IncomingMessage } from "node:http";
import { readVectorJson } from "../../vectors.ts";

export interface RpcMessage {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface RpcReply {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** A server that answers as the Besu node of a recorded network did. */
export interface RecordedBesu {
  readonly url: string;
  close(): void;
}

/**
 * Answers with Besu's recorded hashes, state roots and receipts, and in Besu's words where those differ; what was not
 * recorded comes from a node that holds the same chain. `change` may alter any answer.
 */
export async function startRecordedBesu(
  folder: readonly string[],
  nodeUrl: string,
  change: (request: RpcMessage, reply: RpcReply) => RpcReply = (_, reply) => reply,
): Promise<RecordedBesu> {
  const blocks = readVectorJson<{ hash: string; stateRoot: string }[]>(...folder, "blocks.json");
  const receipts = readVectorJson<Record<string, unknown>>(...folder, "receipts.json");

  function recorded({ method, params }: RpcMessage, reply: RpcReply): RpcReply {
    if (method === "web3_clientVersion")
      return { ...reply, result: "besu/v24.7.0/linux-x86_64/openjdk-java-25" };
    if (method === "eth_getTransactionReceipt") return { ...reply, result: receipts[String(params[0])] };
    if (method === "eth_getBlockByNumber" && reply.result !== null)
      return { ...reply, result: { ...Object(reply.result), ...factsOf(Number(params[0])) } };
    return reply.error?.code === 3 ? { ...reply, error: { ...reply.error, code: -32000 } } : reply;
  }

  function factsOf(number: number) {
    const { hash, stateRoot } = blocks[number] ?? {};
    return { hash, stateRoot };
  }

  async function answer(text: string): Promise<unknown> {
    const asked = JSON.parse(text) as RpcMessage | readonly RpcMessage[];
    const response = await fetch(nodeUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: text,
    });
    const replies = (await response.json()) as RpcReply | readonly RpcReply[];
    const one = (request: RpcMessage, reply: RpcReply): RpcReply => change(request, recorded(request, reply));
    if (!Array.isArray(asked)) return one(asked as RpcMessage, replies as RpcReply);
    return asked.map((request: RpcMessage, index) =>
      one(request, (replies as readonly RpcReply[])[index] ?? { id: request.id }),
    );
  }

  const server = createServer((request, response) => {
    void bodyOf(request)
      .then(answer)
      .then(
        (replies) => {
          response.setHeader("content-type", "application/json");
          response.end(JSON.stringify(replies));
        },
        () => response.writeHead(503).end(),
      );
  });
  await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
