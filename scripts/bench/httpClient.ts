import { Agent, request } from "node:http";

/** A keep-alive JSON-RPC client with little overhead of its own. */
export interface RpcClient {
  /** Posts a body as it is, and returns the response's text. */
  post(body: Buffer | string): Promise<string>;
  call<T>(method: string, params?: readonly unknown[]): Promise<T>;
  batch<T>(calls: readonly (readonly [method: string, params: readonly unknown[]])[]): Promise<T[]>;
  close(): void;
}

interface RpcAnswer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export function createRpcClient(port: number, connections: number): RpcClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });

  function post(body: Buffer | string): Promise<string> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          host: "127.0.0.1",
          port,
          method: "POST",
          path: "/",
          agent,
          headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
          response.on("error", reject);
        },
      );
      outgoing.on("error", (error) => {
        // The server closed the connection as idle just then, as after a minute in which this process signed transactions.
        if (outgoing.reusedSocket && "code" in error && error.code === "ECONNRESET")
          post(body).then(resolve, reject);
        else reject(error);
      });
      outgoing.end(body);
    });
  }

  function resultOf(answer: RpcAnswer): unknown {
    if (answer.error !== undefined) throw new Error(`${answer.error.code} ${answer.error.message}`);
    return answer.result;
  }

  return {
    post,
    async call<T>(method: string, params: readonly unknown[] = []) {
      const text = await post(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
      return resultOf(JSON.parse(text) as RpcAnswer) as T;
    },
    async batch<T>(calls: readonly (readonly [string, readonly unknown[]])[]) {
      const body = calls.map(([method, params], id) => ({ jsonrpc: "2.0", id, method, params }));
      const answers = JSON.parse(await post(JSON.stringify(body))) as RpcAnswer[];
      return answers.toSorted((a, b) => a.id - b.id).map((answer) => resultOf(answer) as T);
    },
    close: () => agent.destroy(),
  };
}
