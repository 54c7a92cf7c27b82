// `npm start`: set-up, then the main job on the bundled questions (or the recipe and flags given after --).
import { spawn } from "node:child_process";
import { join } from "node:path";
import { ROOT, setUp } from "./setup.mjs";

setUp({ dev: false });
const given = process.argv.slice(2);
const args = given.length > 0 ? given : ["quickstart"];
const child = spawn(process.execPath, [join(ROOT, "dist", "cli.js"), "run", ...args], { stdio: "inherit" });
// A terminal sends Ctrl-C to both; SIGTERM comes to this process alone.
process.on("SIGINT", () => undefined);
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 1)));
