import { switchType } from "../../config/valueTypes.ts";
import { EXIT } from "../exitCodes.ts";
import { defineCommand } from "./command.ts";

export const VALIDATE_CONFIG = defineCommand({
  words: "validate-config",
  help: "Check a configuration file, and the files that it names, without starting a node.",
  options: {
    json: {
      type: switchType,
      help: "Print JSON with the fields valid, problems and warnings.",
      default: "false",
    },
  },
  nodeOptions: ["config-file"],
  run: async ({ raw, values, io }) => {
    const { validateConfig, validationText } = await import("../validateConfig.ts");
    const validation = validateConfig(raw, io.workingDirectory);
    const { isValid, ...found } = validation;
    io.print(`${values.json ? JSON.stringify({ valid: isValid, ...found }) : validationText(validation)}\n`);
    return isValid ? EXIT.ok : EXIT.badInput;
  },
});
