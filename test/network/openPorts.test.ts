import { expect, it } from "vitest";
import { openDatagramPort } from "../../src/network/discovery/datagramPort.ts";
import { openPorts } from "../../src/network/openPorts.ts";
import { HOST } from "./toyNetwork.ts";

/** Takes each UDP port before it is asked for, `count` times. */
function takenBefore(count: number) {
  const asked: number[] = [];
  const taken: { close(): void }[] = [];
  const openDatagrams: typeof openDatagramPort = async (at) => {
    asked.push(at.port);
    if (asked.length <= count) {
      const opened = await openDatagramPort(at);
      if (opened.ok) taken.push(opened.value);
    }
    return openDatagramPort(at);
  };
  return { asked, openDatagrams, release: () => taken.map((one) => one.close()) };
}

it("any free port is one that is free for TCP and UDP", async () => {
  const { asked, openDatagrams, release } = takenBefore(3);
  const opened = await openPorts({ host: HOST, port: 0 }, { hasDatagrams: true, openDatagrams });
  expect(new Set(asked).size).toBe(4);
  expect(opened.ok && opened.value.listener.endpoint.port).toBe(asked[3]);
  release();
  if (!opened.ok) return;
  opened.value.datagrams?.close();
  await opened.value.listener.close();
});

it("a port that is asked for is not exchanged, and is given back", async () => {
  const free = await openPorts({ host: HOST, port: 0 }, { hasDatagrams: false });
  if (!free.ok) throw new Error(free.error.message);
  const { port } = free.value.listener.endpoint;
  await free.value.listener.close();
  const { asked, openDatagrams, release } = takenBefore(1);
  const refused = await openPorts({ host: HOST, port }, { hasDatagrams: true, openDatagrams });
  expect(refused).toMatchObject({ ok: false, error: { code: "addressInUse" } });
  expect(asked).toEqual([port]);
  release();
  const again = await openPorts({ host: HOST, port }, { hasDatagrams: true });
  expect(again.ok).toBe(true);
  if (!again.ok) return;
  again.value.datagrams?.close();
  await again.value.listener.close();
});

it("the search for a port ends", async () => {
  const { asked, openDatagrams, release } = takenBefore(100);
  const refused = await openPorts({ host: HOST, port: 0 }, { hasDatagrams: true, openDatagrams });
  expect([refused.ok, asked.length]).toEqual([false, 10]);
  release();
});
