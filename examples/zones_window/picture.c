/*
 * Pixels in a window.  A legacy context draws them; a core-profile one has no call for that, so
 * they go into a texture, and from there, as a frame buffer is copied, into the window.
 */
#include "picture.h"

#include <GL/gl.h>
#include <GL/glext.h>
#include <stdlib.h>

struct picture {
	int width, height;
	bool is_core;
	GLuint texture, buffer;
	PFNGLBINDFRAMEBUFFERPROC bind;
	PFNGLBLITFRAMEBUFFERPROC blit;
	PFNGLDELETEFRAMEBUFFERSPROC destroy;
};

static bool make_buffer(struct picture *p, Prof_Proc (*find)(const char *name))
{
	PFNGLGENFRAMEBUFFERSPROC generate = (PFNGLGENFRAMEBUFFERSPROC)find("glGenFramebuffers");
	PFNGLFRAMEBUFFERTEXTURE2DPROC attach =
		(PFNGLFRAMEBUFFERTEXTURE2DPROC)find("glFramebufferTexture2D");

	p->bind = (PFNGLBINDFRAMEBUFFERPROC)find("glBindFramebuffer");
	p->blit = (PFNGLBLITFRAMEBUFFERPROC)find("glBlitFramebuffer");
	p->destroy = (PFNGLDELETEFRAMEBUFFERSPROC)find("glDeleteFramebuffers");
	if (!generate || !attach || !p->bind || !p->blit || !p->destroy)
		return false;
	glGenTextures(1, &p->texture);
	glBindTexture(GL_TEXTURE_2D, p->texture);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, p->width, p->height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
		NULL);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
	generate(1, &p->buffer);
	p->bind(GL_READ_FRAMEBUFFER, p->buffer);
	attach(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, p->texture, 0);
	p->bind(GL_READ_FRAMEBUFFER, 0);
	return true;
}

struct picture *picture_create(
	int width, int height, bool is_core, Prof_Proc (*find)(const char *name))
{
	struct picture *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->width = width;
	p->height = height;
	p->is_core = is_core;
	if (is_core && !make_buffer(p, find)) {
		free(p);
		return NULL;
	}
	return p;
}

static void show_core(struct picture *p, const unsigned char *rgba, int width, int height)
{
	glBindTexture(GL_TEXTURE_2D, p->texture);
	glTexSubImage2D(
		GL_TEXTURE_2D, 0, 0, 0, p->width, p->height, GL_RGBA, GL_UNSIGNED_BYTE, rgba);
	p->bind(GL_READ_FRAMEBUFFER, p->buffer);
	p->blit(0, 0, p->width, p->height, 0, height, width, 0, GL_COLOR_BUFFER_BIT,
		width == p->width && height == p->height ? GL_NEAREST : GL_LINEAR);
	p->bind(GL_READ_FRAMEBUFFER, 0);
}

/* In pixels from the top left corner on. */
static void show_legacy(struct picture *p, const unsigned char *rgba, int width, int height)
{
	glMatrixMode(GL_PROJECTION);
	glLoadIdentity();
	glMatrixMode(GL_MODELVIEW);
	glLoadIdentity();
	glRasterPos2f(-1, 1);
	glPixelZoom((float)width / (float)p->width, -(float)height / (float)p->height);
	glDrawPixels(p->width, p->height, GL_RGBA, GL_UNSIGNED_BYTE, rgba);
}

void picture_show(struct picture *p, const unsigned char *rgba, int width, int height)
{
	glViewport(0, 0, width, height);
	if (p->is_core)
		show_core(p, rgba, width, height);
	else
		show_legacy(p, rgba, width, height);
}

void picture_destroy(struct picture *p)
{
	if (p->is_core) {
		p->destroy(1, &p->buffer);
		glDeleteTextures(1, &p->texture);
	}
	free(p);
}
