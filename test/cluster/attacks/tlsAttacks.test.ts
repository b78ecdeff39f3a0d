import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:tls";
import { describe, expect } from "vitest";
import { aKeyUpdater, type KeyUpdater } from "../../builders/keyUpdates.ts";
import { aKeystore } from "../../builders/tlsFiles.ts";
import { itIfThorough } from "../../thorough.ts";
import { pause, type RunningProgram, until } from "../harness/nodeProcess.ts";
import { OwnTime } from "../harness/ownTime.ts";
import { aNodeWithTls, countSeconds } from "../harness/tlsNode.ts";

const ATTACK_SECONDS = 5;
/** Few, because this process makes all that they send, and has to ask besides. */
const ATTACKERS = 3;

/**
 * Runs `during` while each of so many attackers attacks again and again, every time from another address of this machine. Meanwhile
 * `ask` gets the number of the head every time, and blocks are made as long as the node has time for them.
 */
async function underAttack(
  program: RunningProgram,
  attackers: number,
  attack: (localAddress: string, isOver: () => boolean) => Promise<void>,
  ask: () => Promise<number | string>,
  during: () => Promise<void>,
): Promise<void> {
  let isOver = false;
  let addresses = 0;
  const keep = async (): Promise<void> => {
    while (!isOver) {
      addresses++;
      await attack(`127.0.${1 + (addresses >> 8)}.${addresses & 255}`, () => isOver);
    }
  };
  const all = Array.from({ length: attackers }, keep);
  try {
    // On a busy machine a handshake may take longer than the node waits for it; the caller comes again then.
    const answer = async (): Promise<number | undefined> => {
      const answered = await ask();
      return typeof answered === "number" ? answered : undefined;
    };
    const nextAnswer = () => until(answer, "an answer under attack");
    const before = await nextAnswer();
    const own = new OwnTime(program);
    const lasting = during();
    for (let seconds = 0; seconds < ATTACK_SECONDS; seconds += await countSeconds(1)) await nextAnswer();
    await lasting;
    const least = own.leastBlocks();
    expect((await nextAnswer()) - before).toBeGreaterThanOrEqual(least);
  } finally {
    isOver = true;
    await Promise.all(all);
  }
}

describe.each([1, 2])("a node with TLS, and %i threads for callers, under attack", (threads) => {
  itIfThorough("answers others, and makes blocks, while clients ask for new keys without end", async () => {
    const { program, httpPort, certificates, head, metric } = await aNodeWithTls(threads);
    const { first, client } = certificates;
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}';
    const request = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const asksForKeys = async (localAddress: string, isOver: () => boolean): Promise<void> => {
      const updater = await aKeyUpdater(
        { port: httpPort, localAddress, key: client.key, cert: client.certificate },
        request,
      ).catch(() => undefined);
      if (updater === undefined) return;
      const { socket } = updater;
      // The pause is for this process, which asks besides.
      for (; !socket.destroyed && !isOver(); await pause(20)) socket.write(updater.records(300));
      socket.destroy();
    };
    await underAttack(
      program,
      ATTACKERS,
      asksForKeys,
      () => head(first, client),
      () => expect.poll(() => metric("handshake")).toBeGreaterThan(8),
    );
    expect(program.output()).toContain("more messages of TLS than content");
    program.child.kill("SIGTERM");
    expect(await program.exit).toBe(0);
  });

  itIfThorough(
    "is kept from others once, and no second time, by all connections of one address that ask for new keys",
    async () => {
      const { program, httpPort, certificates, head, metric } = await aNodeWithTls(threads);
      const { first, client } = certificates;
      const attacker = {
        port: httpPort,
        localAddress: "127.0.0.3",
        key: client.key,
        cert: client.certificate,
      };
      // Much content makes the buffers of the connection large.
      const body = `{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}${" ".repeat(1_000_000)}`;
      const request = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      const flood = async (): Promise<void> => {
        const updaters: KeyUpdater[] = [];
        for (let tries = 0; tries < 24; tries++) {
          const updater = await aKeyUpdater(attacker, request).catch(() => undefined);
          if (updater !== undefined) updaters.push(updater);
        }
        const floods = updaters.map((updater) => updater.records(4_000));
        const closed = updaters.map(({ closed }) => closed);
        for (const [index, { socket }] of updaters.entries()) socket.write(floods[index] ?? "");
        await Promise.all(closed);
        expect(await head(first, client)).toBeTypeOf("number");
      };
      // On a busy machine all connections may go to one thread; the address is then shut out of the other one the next time.
      for (let thread = 0; thread < threads; thread++) await flood();
      const refused = await metric("handshake");
      for (let tries = 0; tries < 10; tries++)
        await expect(aKeyUpdater(attacker, request)).rejects.toThrow("the connection ended");
      expect(await metric("handshake")).toBe(refused + 10);
      expect(await head(first, client)).toBeTypeOf("number");
      program.child.kill("SIGTERM");
      expect(await program.exit).toBe(0);
    },
  );

  itIfThorough(
    "takes over good certificates, and no bad ones, while handshakes come without end",
    async () => {
      const { program, httpPort, certificates, files, install, head } = await aNodeWithTls(threads);
      const { client } = certificates;
      let { first: current, second: next } = certificates;
      const handshake = (localAddress: string): Promise<void> =>
        new Promise((resolve) => {
          const options = { port: httpPort, host: "127.0.0.1", localAddress, rejectUnauthorized: false };
          const socket = connect(options, () => socket.destroy());
          socket.on("error", () => undefined);
          socket.once("close", () => resolve());
        });
      const refusals = (): number => program.output().split("the configuration cannot be reread").length;
      const refuses = async (): Promise<void> => {
        const before = refusals();
        program.child.kill("SIGHUP");
        await until(async () => (refusals() > before ? true : undefined), "a refusal of the file");
        expect(await head(current, client)).toBeTypeOf("number");
      };
      const reload = async (): Promise<void> => {
        const whole = readFileSync(aKeystore(next, "secret"));
        writeFileSync(files.keystore, whole.subarray(0, whole.length / 2));
        await refuses();
        writeFileSync(files.keystore, "no keystore");
        await refuses();
        writeFileSync(files.keystore, readFileSync(aKeystore(next, "another password")));
        await refuses();
        await install(next);
        for (let count = 0; count < 5; count++) program.child.kill("SIGHUP");
        [current, next] = [next, current];
        await until(
          async () => (typeof (await head(current, client)) === "number" ? true : undefined),
          "an answer with the other certificate",
        );
        await until(
          async () => (typeof (await head(next, client)) === "string" ? true : undefined),
          "no answer with the former one, whichever thread is asked",
        );
      };
      await underAttack(
        program,
        2 * ATTACKERS,
        handshake,
        async () => {
          // Whichever of the two certificates the node has by now; it may change in between.
          let answer: number | string = "";
          for (let tries = 0; tries < 4 && typeof answer === "string"; tries++)
            answer = await head(certificates[tries % 2 === 0 ? "first" : "second"], client);
          return answer;
        },
        async () => {
          for (let round = 0; round < 2; round++) await reload();
        },
      );
      program.child.kill("SIGTERM");
      expect(await program.exit).toBe(0);
    },
  );
});
