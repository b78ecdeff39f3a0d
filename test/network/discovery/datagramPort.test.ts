import { createSocket } from "node:dgram";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { type DatagramPort, openDatagramPort } from "../../../src/network/discovery/datagramPort.ts";
import { IN_REAL_TIME } from "../../realTime.ts";

const HOST = "127.0.0.1";

describe("a UDP port", IN_REAL_TIME, () => {
  it("sends nothing to port 0 or after it was closed, and goes on", async () => {
    const other = createSocket("udp4").bind(0, HOST);
    await once(other, "listening");
    const port = await open(HOST);
    const to = { address: HOST, port: other.address().port };
    port.send(new Uint8Array(1), { address: HOST, port: 0 });
    port.send(new Uint8Array(2), to);
    const [bytes] = (await once(other, "message")) as [Uint8Array];
    expect(bytes).toHaveLength(2);
    port.close();
    port.send(new Uint8Array(3), to);
    other.close();
  });

  it("is refused when another program has it", async () => {
    const other = createSocket("udp4").bind(0, HOST);
    await once(other, "listening");
    const opened = await openDatagramPort({ address: HOST, port: other.address().port });
    expect(opened).toMatchObject({ ok: false, error: { code: "addressInUse" } });
    other.close();
  });
});

async function open(address: string): Promise<DatagramPort> {
  const opened = await openDatagramPort({ address, port: 0 });
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
}
