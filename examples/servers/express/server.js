// A server of the Claude Hooks Server Protocol 1.0: files for /tmp/ go to /safe/tmp/ instead, none to /etc/.
//
// PORT: where it listens on this machine (8080). HOOK_TOKEN: the bearer token that it wants (none).
import { createHash, timingSafeEqual } from 'node:crypto';
import { posix } from 'node:path';
import express from 'express';

const { PORT = '8080', HOOK_TOKEN } = process.env;
const FILE_TOOLS = ['Read', 'Write', 'Edit'];

const allow = () => ({ decision: 'allow' });
const block = (reason) => ({ decision: 'block', reason });
// Only what changes: hookctl merges it into what the agent sent, so the content stays.
const modify = (modified_data) => ({ decision: 'modify', modified_data });

function beforeTool({ tool_name, tool_input }) {
  if (!FILE_TOOLS.includes(tool_name)) return allow();
  // `/tmp/../etc/x` is not below /tmp/.
  const path = posix.normalize(tool_input.file_path);
  if (path.startsWith('/etc/') && tool_name !== 'Read') return block(`${path} is the system's`);
  if (path.startsWith('/tmp/')) return modify({ tool_input: { file_path: `/safe${path}` } });
  return allow();
}

const digest = (text) => createHash('sha256').update(text).digest();

const app = express();
app.disable('x-powered-by');

app.use((request, response, next) => {
  const given = request.get('authorization') ?? '';
  if (!HOOK_TOKEN || timingSafeEqual(digest(given), digest(`Bearer ${HOOK_TOKEN}`))) return next();
  response.sendStatus(401);
});

// A file that is written comes along: Express takes only 100 kB unless told.
app.use(express.json({ limit: '16mb' }));

app.post('/hook', (request, response) => {
  const { event, data } = request.body ?? {};
  if (!event?.type || !data) return response.sendStatus(400);
  const answer = event.type === 'PreToolUse' ? beforeTool(data) : allow();
  response.json({ version: '1.0', ...answer });
});

app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error;
  console.log(`listening on http://127.0.0.1:${PORT}/hook`);
});
