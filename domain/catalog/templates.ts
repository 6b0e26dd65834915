/** The templates that a rental can start from (decision 13, "Live listings"). A table per upstream translates each. */
export const templates = [
  {
    id: 'ubuntu-24-04',
    name: 'Ubuntu 24.04',
    description:
      'A plain Ubuntu with the NVIDIA driver and CUDA; most machines have a container runtime too (see `docker info`).',
  },
  {
    id: 'pytorch',
    name: 'PyTorch',
    description:
      'PyTorch with CUDA: on the machine itself, or, where there is a `docker` command, in a container named "template" (`docker exec -it template bash`).',
  },
  {
    id: 'jupyter',
    name: 'Jupyter',
    description:
      'JupyterLab with PyTorch, on port 8888 of the machine, behind a token of its own; open it with `gpu notebook`.',
  },
  {
    id: 'vllm',
    name: 'vLLM',
    description:
      'An OpenAI-compatible model server on port 8000 of the machine; reach it with `ssh -L 8000:127.0.0.1:8000`.',
  },
  {
    id: 'ollama',
    name: 'Ollama',
    description: 'Ollama on port 11434 of the machine; reach it with `ssh -L 11434:127.0.0.1:11434`.',
  },
  {
    id: 'a1111',
    name: 'Stable Diffusion web UI (AUTOMATIC1111)',
    description: 'The web UI on port 8080 of the machine; reach it with `ssh -L 8080:127.0.0.1:8080`.',
  },
  {
    id: 'text-generation-webui',
    name: 'Text generation web UI',
    description: 'The web UI on port 7860 of the machine; reach it with `ssh -L 7860:127.0.0.1:7860`.',
  },
] as const;

export type TemplateId = (typeof templates)[number]['id'];

/** spec: POST /v1/rentals, `templateId`. */
export const defaultTemplateId: TemplateId = 'ubuntu-24-04';

/** Tells whether a text is the id of a template. */
export function isTemplateId(text: string): text is TemplateId {
  return templates.some((template) => template.id === text);
}
