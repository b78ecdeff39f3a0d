import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { toDigits } from "../../../src/primitives/hex.ts";

/** go-ethereum's precompiled contracts of Prague, called by a program that is built for it. */
export interface GoPrecompiles {
  /** Runs a contract for about so many milliseconds, or once for 0. */
  run(number: number, input: Uint8Array, milliseconds: number): Promise<GoRun>;
  close(): void;
}

export interface GoRun {
  /** What the contract asks for. */
  readonly gas: number;
  /** Mean time of a call. */
  readonly nanoseconds: number;
  /** With 0x, or "refused". */
  readonly output: string;
}

const VERSION = "v1.16.7";
const BUILD_MS = 300_000;

/** Undefined where there is no Go, or it cannot build the program. */
export function buildGoPrecompiles(): GoPrecompiles | undefined {
  const folder = mkdtempSync(join(tmpdir(), "ibex-bench-precompiles-"));
  const close = (): void => rmSync(folder, { recursive: true, force: true });
  writeFileSync(join(folder, "main.go"), PROGRAM);
  const steps = [
    ["mod", "init", "precompiles"],
    ["get", `github.com/ethereum/go-ethereum@${VERSION}`],
    ["build", "-mod=mod", "-o", "precompiles", "."],
  ];
  for (const step of steps) {
    const { status } = spawnSync("go", step, { cwd: folder, timeout: BUILD_MS });
    if (status === 0) continue;
    close();
    return undefined;
  }
  const child = spawn(join(folder, "precompiles"), { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async run(number, input, milliseconds) {
      child.stdin.write(`${number} ${milliseconds} ${toDigits(input)}\n`);
      const { value } = await lines.next();
      const [gas, nanoseconds, output] = String(value).split(" ");
      if (output === undefined) throw new Error(`go-ethereum said: ${value}`);
      return { gas: Number(gas), nanoseconds: Number(nanoseconds), output };
    },
    close() {
      child.stdin.end();
      close();
    },
  };
}

/** Reads lines of a number, milliseconds and an input in hex; writes the gas, nanoseconds and the output. */
const PROGRAM = `package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
)

func main() {
	reader := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := reader.ReadString('\\n')
		if err != nil {
			return
		}
		var number, milliseconds int
		fmt.Sscan(line, &number, &milliseconds)
		digits := line[strings.LastIndex(line, " ")+1 : len(line)-1]
		input, err := hex.DecodeString(digits)
		if err != nil {
			panic(err)
		}
		contract := vm.PrecompiledContractsPrague[common.BytesToAddress([]byte{byte(number)})]
		gas := contract.RequiredGas(input)
		begin := time.Now()
		output, refusal := contract.Run(input)
		calls := 1
		for time.Since(begin) < time.Duration(milliseconds)*time.Millisecond {
			contract.Run(input)
			calls++
		}
		nanoseconds := time.Since(begin).Nanoseconds() / int64(calls)
		text := "0x" + hex.EncodeToString(output)
		if refusal != nil {
			text = "refused"
		}
		fmt.Printf("%d %d %s\\n", gas, nanoseconds, text)
	}
}
`;
