import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, it } from "vitest";
import { type Listener, listen } from "../../src/network/listener.ts";

const HOST = "127.0.0.1";

async function listening(): Promise<Listener> {
  const opened = await listen({ host: HOST, port: 0 });
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
}

async function callTo({ endpoint }: Listener): Promise<Socket> {
  const caller = connect(endpoint.port, HOST);
  caller.on("error", () => undefined);
  await once(caller, "connect");
  // As an initiator does, and nobody reads it.
  caller.write("auth");
  return caller;
}

it("closes what arrives before it begins, and does not wait for it when it closes", async () => {
  const listener = await listening();
  const caller = await callTo(listener);
  caller.resume();
  await once(caller, "close");
  await listener.close();
});

it("hands over what arrives once it has begun", async () => {
  const listener = await listening();
  const accepted = new Promise<Socket>((resolve) =>
    listener.begin({ accepted: resolve, failed: () => undefined }),
  );
  const caller = await callTo(listener);
  expect((await accepted).remotePort).toBe(caller.localPort);
  caller.destroy();
  (await accepted).destroy();
  await listener.close();
});
