import type { IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { createHostRefusalLog } from "../../../src/rpc/server/hostRefusal.ts";
import { createHandClock } from "../../builders/handClock.ts";
import { loggedLines } from "../../builders/loggedLines.ts";
import { aToyDispatcher } from "../toyMethods.ts";
import { anHttpServer, ask } from "./servers.ts";

const SAID = "requests to a host that is not in --host-allowlist are refused";

describe("a host that is not on the allow-list", () => {
  it("is named in the log, and in the answer to a health check, with the option that allows it", async () => {
    const { logger, lines } = loggedLines();
    const server = await anHttpServer(aToyDispatcher().dispatcher, {}, { logger });
    const asked = (path: string) =>
      ask(server, { method: "GET", path, headers: { host: "10.0.0.5:8545" } }).then(({ body }) => body);
    const reason = "The Host of the request, '10.0.0.5:8545', is not in --host-allowlist.";
    for (const path of ["/readiness?minPeers=1", "/liveness"])
      expect(JSON.parse(await asked(path))).toEqual({ message: "Host not authorized.", reason });
    expect(await asked("/")).toBe('{"message":"Host not authorized."}');
    expect(lines).toEqual([
      expect.objectContaining({ level: "WARN", message: SAID, host: "10.0.0.5:8545", client: "127.0.0.1" }),
    ]);
  });

  it("is told of once an hour, and ten names at most, of which none is long", () => {
    const { logger, lines } = loggedLines();
    const clock = createHandClock(0);
    const refused = createHostRefusalLog(logger, clock);
    const from = (host: string) =>
      refused({ headers: { host }, socket: { remoteAddress: "10.0.0.9" } } as IncomingMessage);
    for (let name = 0; name < 30; name++) for (let time = 0; time < 2; time++) from(`${name}.example`);
    expect(lines).toHaveLength(10);
    clock.advanceBy(3_600_001);
    from("x".repeat(10_000));
    from("0.example");
    expect(lines.slice(10).map(({ host }) => (host as string).length)).toEqual([255, 9]);
  });
});
