import { EXIT } from "../exitCodes.ts";
import { type Command, defineCommand } from "./command.ts";

/** The commands that print a shell's completion script; `commands` gives all commands, these among them. */
export function completionCommands(commands: () => readonly Command[]): readonly Command[] {
  return (["bash", "zsh"] as const).map((shell) =>
    defineCommand({
      words: `completion ${shell}`,
      help: `Print a script by which ${shell} completes commands, options, values and file names: ${INSTALL[shell]}.`,
      run: async ({ io }) => {
        const { completionScript } = await import("../completion/completionScript.ts");
        io.print(completionScript(commands(), shell));
        return EXIT.ok;
      },
    }),
  );
}

const INSTALL = {
  bash: 'eval "$(ibex completion bash)" in ~/.bashrc installs it',
  zsh: 'eval "$(ibex completion zsh)" after compinit in ~/.zshrc installs it',
} as const;
