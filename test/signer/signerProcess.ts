import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { quickKeystore } from "../node/keys/quickKeystore.ts";

/** A signer with Web3Signer's API that runs as a process of its own, on a keystore file. */
export interface SignerProcess {
  readonly url: string;
  readonly port: number;
  /** Of the running process; another one after a restart. */
  readonly child: ChildProcess;
  /** Has it misbehave, or behave again with `sign`. */
  setMode(mode: SignerMode): Promise<void>;
  figures(): Promise<SignerFigures>;
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<void>;
  /** Starts it again on the same port. */
  restart(): Promise<void>;
}

export type SignerMode =
  | {
      readonly kind:
        | "sign"
        | "hang"
        | "wrong"
        | "busy"
        | "forbidden"
        | "large"
        | "garbage"
        | "lacksKey"
        | "highS"
        | "smallV";
    }
  | { readonly kind: "slow"; readonly ms: number };

export interface SignerFigures {
  readonly signatures: number;
  readonly requests: number;
  readonly mostAtOnce: number;
  /** Bytes of the largest request body. */
  readonly largestBytes: number;
  /** What was signed, the first thousand. */
  readonly data: readonly string[];
}

export interface TlsFiles {
  readonly key: string;
  readonly certificate: string;
}

export async function startSignerProcess(privateKey: Uint8Array, tls?: TlsFiles): Promise<SignerProcess> {
  const folder = mkdtempSync(join(tmpdir(), "ibex-test-"));
  const keystore = join(folder, "keystore.json");
  const password = join(folder, "password");
  writeFileSync(keystore, await quickKeystore(privateKey, "a password"));
  writeFileSync(password, "a password\n");
  const options = [
    `--keystore=${keystore}`,
    `--password=${password}`,
    ...(tls === undefined ? [] : [`--tls-key=${tls.key}`, `--tls-cert=${tls.certificate}`]),
  ];
  let running = await run(options, 0);
  const { port } = running;
  const url = `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`;
  return {
    url,
    port,
    get child() {
      return running.child;
    },
    async setMode(mode) {
      await fetch(`${url}/test/mode`, { method: "POST", body: JSON.stringify(mode) });
    },
    figures: async () => (await (await fetch(`${url}/test/figures`)).json()) as SignerFigures,
    async kill() {
      const { child } = running;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGKILL");
      await ended;
    },
    async restart() {
      running = await run(options, port);
    },
  };
}

function run(options: readonly string[], port: number): Promise<{ child: ChildProcess; port: number }> {
  const program = fileURLToPath(new URL("web3Signer.mjs", import.meta.url));
  const child = spawn(process.execPath, [program, ...options, `--port=${port}`], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  return new Promise((resolve, reject) => {
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        output += chunk.toString("utf8");
        const found = /^port (\d+)$/m.exec(output);
        if (found !== null) resolve({ child, port: Number(found[1]) });
      });
    child.once("close", () => reject(new Error(`the signer ended:\n${output}`)));
  });
}
